-- What the workers carry, and what they are paid for it. Nothing in here is Daybook's.
create table t_move_brick (
  id           integer primary key autoincrement,
  move_no      varchar(32) not null default '',
  pay_no       varchar(32) not null default '',   -- the payment that has it; '': none yet
  worker_id    bigint not null default 0,
  move_num     int not null default 0,            -- bricks
  status       tinyint not null default 0,        -- 1 new, 2 to be paid, 3 paid
  create_time  timestamp not null default current_timestamp,
  update_time  timestamp not null default current_timestamp,
  unique (move_no)
);
create index idx_pay_move on t_move_brick (pay_no, move_no);

create table t_move_pay (
  id           integer primary key autoincrement,
  pay_no       varchar(32) not null default '',
  worker_id    bigint not null default 0,
  boss_id      bigint not null default 0,
  move_count   int not null default 0,
  move_sum     int not null default 0,
  money        int not null default 0,            -- cents
  status       tinyint not null default 0,        -- 1 new, 2 to be paid, 3 paid, 4 void
  create_time  timestamp not null default current_timestamp,
  update_time  timestamp not null default current_timestamp,
  unique (pay_no)
);

insert into t_move_brick (move_no, worker_id, move_num, status) values
  ('M202012131013000102101', 101, 81, 1),
  ('M202012131013000102102', 102, 41, 1),
  ('M202012131013000102103', 101, 70, 1),
  ('M202012131013000102104', 101, 28, 1),
  ('M202012131013000102105', 102, 35, 1);
