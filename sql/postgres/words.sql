-- The words of sql/common that this engine has its own text for: `{least}` there is the text of the
-- block `least` here. A block without a text: the engine needs no such word.

-- name: ::bigint
::bigint;

-- name: ::int
::int;

-- name: ::smallint
::smallint;

-- name: ::text
::text;

-- name: ::uuid
::uuid;

-- name: by_start

-- name: false
false;

-- name: for_update
for update;

-- name: least
least;

-- name: skip_locked
for update skip locked;
