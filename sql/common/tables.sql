-- The tables of the application, as the engine's own catalogue has them; and how a key of theirs is
-- written as one of ours.

-- name: table.about
-- in: schema, table
-- out: kind, transactional, strict

-- name: table.columns
-- in: schema, table
-- out: name, kind, low, high, length, nullable, generated, type

-- name: table.indexes
-- in: schema, table
-- out: name, column, is_unique, is_primary, is_deferrable, condition

-- Not the book's own.
-- name: table.names
-- in: schema, prefix, count
-- out: name

-- A column as the text that is its key with us.
-- name: key.of_integer
-- holes: column

-- name: key.of_text
-- holes: column

-- name: key.of_uuid
-- holes: column

-- name: key.of_date
-- holes: column

-- What a person may run.
-- name: table.create_index
-- holes: index, schema_name, table, columns
create index {index} on {schema_name}.{table} ({columns});

-- A key of ours as a value of the column's kind, so that the index on that serves; null where it is
-- none.
-- name: key.as_integer
-- holes: key

-- name: key.as_text
-- holes: key
{key};

-- name: key.as_uuid
-- holes: key

-- name: key.as_date
-- holes: key

-- Whether a text may be a key of ours: 1 to 255 bytes without control characters.
-- name: key.is_one
-- holes: key
