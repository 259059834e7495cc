-- For tests: the clock of a book that was made movable, and holders that expire at once.

-- name: testing.advance_clock
-- in: by_us
update {clock} set offset_us = offset_us + :by_us, stopped_us = stopped_us + :by_us
where only_row = 1;

-- name: testing.stop_clock
-- in: at_us
update {clock} set stopped_us = :at_us where only_row = 1;

-- name: testing.expire
-- in: process, key
update {holder} set lease_until_us = {now} - 1, ended_us = {now}, ended_how = 'dead'
where ended_us is null
  and uuid = (select r.holder from {run} r
              where r.process = :process and r.run_key = :key and r.state in (9, 8));
