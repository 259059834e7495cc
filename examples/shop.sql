-- The tables of the shop in sync_stock.cpp and sync_stock.py, as they are on every engine.
create table category (
  id bigint not null primary key
);
create table product (
  code     varchar(40) not null primary key,
  category bigint not null,
  quantity bigint,
  asked_us bigint,
  foreign key (category) references category (id) on delete cascade
);
-- A row for each turn of a task, which `request` names, its idempotency key: nobody has to forbid
-- that there are two.
create table quantity_history (
  code     varchar(40) not null,
  turn_us  bigint not null,
  request  varchar(60) not null,
  quantity bigint not null
);
