-- The settings that the guarantees rest on, as (name, found).

-- name: doctor.settings
-- out: name, found

-- Every table whose name begins with the prefix, without that.
-- name: doctor.tables
-- out: name
