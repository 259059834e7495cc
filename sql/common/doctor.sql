-- The settings that the guarantees rest on, as (name, found).

-- name: doctor.settings
-- out: name, found
