-- name: sweep.place_integer
{column}::text;

-- name: sweep.place_date
pg_catalog.to_char({column}, 'YYYY-MM-DD');

-- name: sweep.value_date
{given}::date;

-- name: sweep.ok_date
pg_catalog.isfinite({column}) and {column} >= date '0001-01-01';

-- Microseconds since 2000 in hexadecimal: every row has its place read, and to_char takes six times
-- as long.
-- name: sweep.place_time
pg_catalog.encode(pg_catalog.timestamp_send({column}), 'hex');

-- Days and the rest of one, for a product with an interval is exact up to 2^53.
-- name: sweep.value_time
(timestamp '2000-01-01'
  + ('x' || {given})::bit(64)::bigint / 86400000000 * interval '1 day'
  + ('x' || {given})::bit(64)::bigint % 86400000000 * interval '1 microsecond');

-- name: sweep.ok_time
pg_catalog.isfinite({column}) and {column} >= timestamp '0001-01-01';

-- name: sweep.place_zoned
pg_catalog.encode(pg_catalog.timestamp_send({column} at time zone 'UTC'), 'hex');

-- name: sweep.value_zoned
((timestamp '2000-01-01'
  + ('x' || {given})::bit(64)::bigint / 86400000000 * interval '1 day'
  + ('x' || {given})::bit(64)::bigint % 86400000000 * interval '1 microsecond')
  at time zone 'UTC');

-- name: sweep.ok_zoned
pg_catalog.isfinite({column}) and {column} >= timestamptz '0001-01-02';
