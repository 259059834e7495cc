-- Intakes: messages of a broker that come into the book, each once.

-- name: intake.make
-- in: name, page_bytes, gather_us, backoff_us, remember_us, queue, page, lanes, attempts,
--   refused_limit, target, identity, payload, begin_at, on_gap, on_error, identity_name
insert into {intake} (created_us, version, state, error, name, page_bytes, gather_us, backoff_us,
  remember_us, queue, page, lanes, attempts, refused_limit, target, identity, payload, begin_at,
  on_gap, on_error, identity_name)
values ({now}, 1, 0, '', :name, :page_bytes, :gather_us, :backoff_us, :remember_us, :queue, :page,
  :lanes, :attempts, :refused_limit, :target, :identity, :payload, :begin_at, :on_gap, :on_error,
  :identity_name)
on conflict (name) do nothing;

-- name: intake.change
-- in: name, page_bytes, gather_us, backoff_us, remember_us, queue, page, lanes, attempts,
--   refused_limit, target, identity, payload, begin_at, on_gap, on_error, identity_name
update {intake} set version = version + 1, page_bytes = :page_bytes, gather_us = :gather_us,
  backoff_us = :backoff_us, remember_us = :remember_us, queue = :queue, page = :page,
  lanes = :lanes, attempts = :attempts, refused_limit = :refused_limit, target = :target,
  identity = :identity, payload = :payload, begin_at = :begin_at, on_gap = :on_gap,
  on_error = :on_error, identity_name = :identity_name
where name = :name;

-- name: intake.look
-- in: name
-- out: id, version, state, error, page_bytes, gather_us, backoff_us, remember_us, queue_name, page,
--   lanes, attempts, refused_limit, target, identity, payload, begin_at, on_gap, on_error,
--   identity_name
select i.id, i.version, i.state, i.error, i.page_bytes, i.gather_us, i.backoff_us, i.remember_us,
  q.name, i.page, i.lanes, i.attempts, i.refused_limit, i.target, i.identity, i.payload, i.begin_at,
  i.on_gap, i.on_error, i.identity_name
from {intake} i left join {queue} q on q.id = i.queue where i.name = :name;

-- name: intake.names
-- out: name
select name from {intake} order by name;

-- name: intake.set_state
-- in: intake, state, error
update {intake} set state = :state, error = :error, version = version + 1
where id = :intake and (state <> :state or error <> :error);

-- Its lanes look again at how far they are.
-- name: intake.touch
-- in: intake
update {intake} set version = version + 1 where id = :intake;

-- The first who sees the partitions: `begin_at` is for those. One row, or others were first.
-- name: intake.begin
-- in: intake
update {intake} set begun_us = {now} where id = :intake and begun_us is null;

-- Rows of [topic, part, next_position], of partitions that are not known yet.
-- name: intake.place_all
-- in: intake, rows

-- name: intake.places
-- in: intake
-- out: topic, part, next_position, anchor, moved_us, taken, refused, skipped
select topic, part, next_position, anchor, moved_us, taken, refused, skipped
from {intake_place} where intake = :intake order by topic, part;

-- Rows of [topic, part, from, to, anchor, taken, refused, skipped]. As many rows as there are, or
-- somebody else has moved one.
-- name: intake.move
-- in: intake, rows

-- By a person: from where it was when that person looked.
-- name: intake.put_place
-- in: intake, topic, part, before, next_position
update {intake_place} set next_position = :next_position, anchor = '', moved_us = {now}
where intake = :intake and topic = :topic and part = :part and next_position = :before;

-- Of these ids, rows of [id], those that are there already.
-- name: intake.seen
-- in: intake, rows
-- out: message_id

-- Rows of [id]. Fewer than there are: others were faster with one.
-- name: intake.remember
-- in: intake, rows

-- Ids that were seen longer ago than that.
-- name: intake.forget_seen
-- in: intake, remember_us, limit
delete from {intake_seen}
where intake = :intake
  and message_id in (select x.message_id from {intake_seen} x
                     where x.intake = :intake and x.seen_us < {now} - :remember_us
                     order by x.seen_us limit :limit);

-- name: intake.refuse
-- in: intake, topic, part, position, attempts, message_id, message_key, reason, body
insert into {intake_refused} (refused_us, intake, topic, part, position, attempts, message_id,
  message_key, reason, body)
values ({now}, :intake, :topic, :part, :position, :attempts, :message_id, :message_key, :reason,
  :body);

-- name: intake.count_refused
-- in: intake
-- out: refused
select count(*) from {intake_refused} where intake = :intake;

-- name: intake.refused
-- in: intake, after, limit
-- out: id, refused_us, topic, part, position, attempts, message_id, message_key, reason, body
select id, refused_us, topic, part, position, attempts, message_id, message_key, reason, body
from {intake_refused} where intake = :intake and id > :after order by id limit :limit;

-- name: intake.drop_refused
-- in: intake, refused
delete from {intake_refused} where intake = :intake and id = :refused;
