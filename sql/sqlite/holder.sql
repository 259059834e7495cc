-- name: holder.register
insert into {holder} (uuid, lease_until_us, ttl_us, node, pid, started_us, renewed_us, in_hand)
values (:uuid, {now} + :ttl_us, :ttl_us, :node, :pid, {now}, {now}, '')
on conflict (uuid) do nothing;

-- name: holder.has
select id from {claim} where holder = :uuid and reclaimed_us is null
union all
select r.acquisition from daybook_rows(:ended) as e
  join {run} r on r.process = e.c0 and r.run_key = e.c1
where r.acquisition = e.c2 and r.state in (9, 8);
