-- name: holder.register
insert ignore into {holder} (uuid, lease_until_us, ttl_us, node, pid, started_us, renewed_us,
  in_hand)
values (:uuid, {now} + :ttl_us, :ttl_us, :node, :pid, {now}, {now}, '');

-- name: holder.has
select id from {claim} where holder = :uuid and reclaimed_us is null;
-- then
select r.acquisition from json_table(:ended, '$[*]' columns (
    process varbinary(255) path '$[0]', run_key varbinary(255) path '$[1]',
    acquisition varchar(36) path '$[2]')) as e
  straight_join {run} r on r.process = e.process and r.run_key = e.run_key
where r.acquisition = e.acquisition and r.state in (9, 8);
