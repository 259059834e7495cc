-- Rows go in as a JSON array of arrays.

-- name: intake.place_all
insert into {intake_place} (intake, topic, part, next_position, anchor, moved_us, taken, refused,
  skipped)
select :intake, r.c0, r.c1, r.c2, '', {now}, 0, 0, 0 from daybook_rows(:rows) as r where true
on conflict (intake, topic, part) do nothing;

-- name: intake.move
update {intake_place} as p set next_position = r.c3, anchor = r.c4, moved_us = {now},
  taken = p.taken + r.c5, refused = p.refused + r.c6, skipped = p.skipped + r.c7
from daybook_rows(:rows) as r
where p.intake = :intake and p.topic = r.c0 and p.part = r.c1 and p.next_position = r.c2;

-- name: intake.seen
select s.message_id from daybook_rows(:rows) as r
  cross join {intake_seen} s on s.intake = :intake and s.message_id = r.c0;

-- name: intake.remember
insert into {intake_seen} (intake, message_id, seen_us)
select :intake, r.c0, {now} from daybook_rows(:rows) as r where true
on conflict (intake, message_id) do nothing;
