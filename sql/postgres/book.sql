-- name: book.exists
select pg_catalog.to_regclass('{schema}.' || :prefix::text || 'version') is not null;
