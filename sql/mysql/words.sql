-- The words of sql/common that this engine has its own text for: `{least}` there is the text of the
-- block `least` here. A block without a text: the engine needs no such word.

-- name: ::bigint

-- name: ::int

-- name: ::smallint

-- name: ::text

-- name: ::uuid

-- Where its planner would rather read all rows than the newest by their index.
-- name: by_start
force index for order by (run_by_start);

-- name: false
0;

-- name: for_update
for update;

-- name: least
least;

-- name: skip_locked
for update skip locked;
