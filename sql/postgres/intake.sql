-- Rows go in as a JSON array of arrays.

-- name: intake.place_all
insert into {intake_place} (intake, topic, part, next_position, anchor, moved_us, taken, refused,
  skipped)
select :intake, r->>0, (r->>1)::int, (r->>2)::bigint, '', {now}, 0, 0, 0
from json_array_elements(:rows::json) as r
on conflict (intake, topic, part) do nothing;

-- name: intake.move
update {intake_place} as p set next_position = (r->>3)::bigint, anchor = r->>4, moved_us = {now},
  taken = p.taken + (r->>5)::bigint, refused = p.refused + (r->>6)::bigint,
  skipped = p.skipped + (r->>7)::bigint
from json_array_elements(:rows::json) as r
where p.intake = :intake and p.topic = r->>0 and p.part = (r->>1)::int
  and p.next_position = (r->>2)::bigint;

-- One by one: else the plan that was made when the table was small reads all of it.
-- name: intake.seen
select s.message_id
from json_array_elements(:rows::json) as r cross join lateral (
  select message_id from {intake_seen}
  where intake = :intake and message_id = r->>0 limit 1) as s;

-- name: intake.remember
insert into {intake_seen} (intake, message_id, seen_us)
select :intake, r->>0, clock.us
from json_array_elements(:rows::json) as r, (select {now} as us) as clock
on conflict (intake, message_id) do nothing;
