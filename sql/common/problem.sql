-- Problems as daemons that tell people of them have seen them.

-- name: problem.all
-- out: print, kind, subject, urgency, since_us, told_us, seen, unseen, why, remedy
select print, kind, subject, urgency, since_us, told_us, seen, unseen, why, remedy
from {problem} order by since_us, print;

-- name: problem.put
-- in: print, kind, subject, urgency, since_us, told_us, seen, unseen, why, remedy, seen_us
insert into {problem} (print, kind, subject, urgency, since_us, told_us, seen, unseen, why, remedy,
  seen_us)
values (:print, :kind, :subject, :urgency, :since_us, :told_us, :seen, :unseen, :why, :remedy,
  :seen_us);

-- name: problem.remove
-- in: print
delete from {problem} where print = :print;
