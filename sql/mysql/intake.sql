-- Rows go in as a JSON array of arrays; a text says its character set, for that of the database may
-- be another.

-- name: intake.make
insert ignore into {intake} (created_us, version, state, error, name, page_bytes, gather_us,
  backoff_us, remember_us, queue, page, lanes, attempts, refused_limit, target, identity, payload,
  begin_at, on_gap, on_error, identity_name)
values ({now}, 1, 0, '', :name, :page_bytes, :gather_us, :backoff_us, :remember_us, :queue, :page,
  :lanes, :attempts, :refused_limit, :target, :identity, :payload, :begin_at, :on_gap, :on_error,
  :identity_name);

-- name: intake.place_all
insert ignore into {intake_place} (intake, topic, part, next_position, anchor, moved_us, taken,
  refused, skipped)
select :intake, cast(j.topic as binary), j.part, j.next_position, '', {now}, 0, 0, 0
from json_table(:rows, '$[*]' columns (topic varchar(255) character set utf8mb4 path '$[0]',
    part int path '$[1]', next_position bigint path '$[2]')) as j;

-- name: intake.move
update {intake_place} p join json_table(:rows, '$[*]' columns (
    topic varchar(255) character set utf8mb4 path '$[0]', part int path '$[1]',
    before_it bigint path '$[2]', next_position bigint path '$[3]',
    anchor varchar(64) character set utf8mb4 path '$[4]', taken bigint path '$[5]',
    refused bigint path '$[6]', skipped bigint path '$[7]')) as j
  on p.topic = cast(j.topic as binary) and p.part = j.part and p.next_position = j.before_it
set p.next_position = j.next_position, p.anchor = cast(j.anchor as binary), p.moved_us = {now},
  p.taken = p.taken + j.taken, p.refused = p.refused + j.refused, p.skipped = p.skipped + j.skipped
where p.intake = :intake;

-- name: intake.seen
select s.message_id
from json_table(:rows, '$[*]' columns (k varchar(255) character set utf8mb4 path '$[0]')) as j
  straight_join {intake_seen} s on s.intake = :intake and s.message_id = cast(j.k as binary);

-- name: intake.remember
insert ignore into {intake_seen} (intake, message_id, seen_us)
select :intake, cast(j.k as binary), clock.us
from json_table(:rows, '$[*]' columns (k varchar(255) character set utf8mb4 path '$[0]')) as j,
  (select {now} as us) as clock;

-- name: intake.forget_seen
delete from {intake_seen}
where intake = :intake and seen_us < {now} - :remember_us
order by seen_us limit :limit;
