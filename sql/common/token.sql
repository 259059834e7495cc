-- Tokens, sessions and one-time codes: who may use the console and the HTTP API.

-- name: token.add
-- in: lifetime_us, kind, role, id, hash, name, made_by
insert into {token} (created_us, expires_us, kind, role, id, hash, name, made_by)
values ({now}, {now} + :lifetime_us{::bigint}, :kind, :role, :id, :hash, :name, :made_by);

-- name: token.find
-- in: id
-- out: id, kind, role, name, made_by, created_us, expires_us, used_us, hash
select id, kind, role, name, made_by, created_us, expires_us, used_us, hash from {token}
where id = :id and revoked_us is null and (expires_us is null or expires_us > {now});

-- Once an hour: else each question would write.
-- name: token.use
-- in: id
update {token} set used_us = {now}
where id = :id and (used_us is null or used_us < {now} - 3600000000);

-- name: token.revoke
-- in: id, maker
update {token} set revoked_us = {now}
where (id = :id or made_by = :maker) and revoked_us is null and (expires_us is null or expires_us > {now});

-- name: token.all
-- out: id, kind, role, name, made_by, created_us, expires_us, used_us, hash
select id, kind, role, name, made_by, created_us, expires_us, used_us, hash from {token}
where revoked_us is null and (expires_us is null or expires_us > {now})
order by created_us, id;

-- A month after their end.
-- name: token.forget
delete from {token}
where revoked_us < {now} - 2592000000000 or expires_us < {now} - 2592000000000;
