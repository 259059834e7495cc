-- Queues in order: tasks whose keys agree up to their last '/' are a series, and one is begun when
-- those added before it are over. Here is each that is not; `added_us` and then the id say who is
-- before whom. Transactions that overlap and lock nothing together have no order among themselves.

-- A member that has a segment of its own. A key without a '/' is a series of its own. `added_us`:
-- null, when the key came. By its key, for a range could keep others from adding theirs.
-- name: series.add_one
-- in: member, added_us

-- New members, which one segment holds: each becomes one of its own.
-- name: series.add
-- in: lo, hi

-- Which of the `among` that are due for longest are first of their series, where nobody has a task of
-- that in hand: one may be in hand that was added later, for what is added in two transactions can be
-- committed in the other order, and a clock can step back. A member that was removed holds nobody up,
-- but while a claim has it: there each has a range of its own. Those who claim take turns (queue.turn),
-- so that nobody begins another between this and series.take.
-- name: series.heads
-- in: queue, lane, among, count
-- out: hi

-- The same by looking at each series that has a task, where those behind are many.
-- name: series.all_heads
-- in: queue, lane, count
-- out: hi

-- A claim of those among `heads`, rows of [hi], that are due still. Its tasks: claim.tasks.
-- name: series.take
-- in: claim, queue, holder, heads

-- They are over. `rows`: of [id]. By its key, for what others add and have not committed is waited for
-- by who reads a range.
-- name: series.end
-- in: rows

-- Those of members that were removed, and that nobody has in hand.
-- name: series.strays
-- in: queue, count
-- out: member
