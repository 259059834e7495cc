-- name: sweep.place_integer
cast({column} as text);

-- name: sweep.ok_integer
typeof({column}) = 'integer';

-- name: sweep.ok_text
typeof({column}) = 'text';

-- name: sweep.ok_uuid
typeof({column}) = 'text';

-- name: sweep.place_date
{column};

-- name: sweep.value_date
{given};

-- name: sweep.ok_date
typeof({column}) = 'text';

-- name: sweep.place_time
case typeof({column}) when 'integer' then 'i' else 't' end || {column};

-- name: sweep.value_time
case substr({given}, 1, 1) when 'i' then cast(substr({given}, 2) as integer)
  else substr({given}, 2) end;

-- name: sweep.ok_time
typeof({column}) in ('integer', 'text');

-- name: sweep.place_zoned
case typeof({column}) when 'integer' then 'i' else 't' end || {column};

-- name: sweep.value_zoned
case substr({given}, 1, 1) when 'i' then cast(substr({given}, 2) as integer)
  else substr({given}, 2) end;

-- name: sweep.ok_zoned
typeof({column}) in ('integer', 'text');
