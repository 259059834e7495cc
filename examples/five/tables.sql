-- The tables of the five stories, for SQLite and PostgreSQL. Nothing in here is Daybook's.
create table sale (day text not null, customer int not null, cents int not null);
create table total (day text primary key, cents bigint not null);
create table customer (id int primary key, points bigint not null default 0);
insert into customer (id) values (1), (2);
insert into sale values ('2026-11-21', 1, 1200), ('2026-11-21', 2, 900), ('2026-11-21', 1, 300);

create table export (from_at varchar(40) not null, to_at varchar(40) primary key);

create table product (code varchar(40) primary key not null, pieces int, asked int default 0);
insert into product (code) values ('bolt'), ('nut'), ('o''ring'), ('screw');

create table orders (id int primary key, state varchar(10) not null, grams int not null);
create table shipment (order_id int primary key);
create table member (id bigint primary key not null, name text);
insert into orders values (1, 'paid', 800), (2, 'new', 90), (3, 'paid', 40000), (4, 'paid', 60);
insert into member (id) values (1), (2), (3), (4), (5);

create table brick (
  id       int primary key not null,
  worker   int not null,
  bricks   int not null,
  state    int not null,                  -- 1 new, 2 to be paid, 3 paid
  payment  varchar(40) not null           -- that has it; '': none yet
);
create table payment (
  id       varchar(40) primary key not null,
  worker   int,
  state    int not null,                  -- 1 open, 2 closed, 3 paid, 4 void
  records  int not null default 0,
  bricks   int not null default 0,
  cents    int not null default 0
);
insert into brick values
  (1, 101, 81, 1, ''), (2, 102, 41, 1, ''), (3, 101, 70, 1, ''), (4, 101, 28, 1, ''),
  (5, 102, 35, 1, '');
