-- The words of sql/common that this engine has its own text for: `{least}` there is the text of the
-- block `least` here. A block without a text: the engine needs no such word.

-- name: ::bigint

-- name: ::int

-- name: ::smallint

-- name: ::text

-- name: ::uuid

-- name: by_start

-- name: false
0;

-- name: for_update

-- name: least
min;

-- name: skip_locked
