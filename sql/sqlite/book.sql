-- name: book.exists
select count(*) from {schema}.sqlite_schema where type = 'table' and name = :prefix || 'version';
