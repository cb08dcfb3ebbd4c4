#!/bin/bash
# Ten nights of an archive as mongodump writes it: the documents of four namespaces in turns, in blocks, in another order
# each night. The documents are rows of an own PostgreSQL on a unix socket, as JSON.
set -e
W=${1:?a folder}; B=/usr/lib/postgresql/15/bin; D=$W/pg; S=$W/pgsock
mkdir -p $S $W/dumps $W/series/mongodump; chown -R postgres $S $W/dumps; mkdir -p $D; chown postgres $D
AS="setpriv --reuid=postgres --regid=postgres --clear-groups"
[ -f $D/PG_VERSION ] || $AS $B/initdb -D $D -A trust >/dev/null
$AS $B/pg_ctl -D $D status >/dev/null || $AS $B/pg_ctl -D $D -l $S/pg.log -w -o "-c listen_addresses= -c unix_socket_directories=$S -c fsync=off" start >/dev/null
P="$AS psql -h $S -q -v ON_ERROR_STOP=1"
$P postgres -c "drop database if exists mongo" -c "create database mongo"
for t in 1 2 3 4; do
  $P mongo -c "create table t$t(id serial primary key, \"createdAt\" timestamptz, \"orderState\" text, \"numberOfItems\" int, note text, customer jsonb)" \
    -c "insert into t$t(\"createdAt\",\"orderState\",\"numberOfItems\",note,customer) select '2027-01-01'::timestamptz + i * interval '40 seconds', (array['done','shipped','new'])[1+i%3], (random()*1e4)::int,
      (select string_agg((array['order','invoice','customer','warehouse','transport','return'])[1+((i*7+k*k*13)%6)], ' ') from generate_series(1, 4+i%5) k),
      jsonb_build_object('number', (random()*1e6)::int, 'city', (array['Bern','Oslo','Lima','Kyiv'])[1+i%4]) from generate_series(1,50000) i"
done
for n in $(seq -w 1 10); do
  for t in 1 2 3 4; do
    $P mongo -c "update t$t set \"numberOfItems\"=(random()*1e4)::int, note=md5(random()::text) where random()<0.004" -c "delete from t$t where random()<0.001" \
      -c "insert into t$t(\"createdAt\",\"orderState\",\"numberOfItems\",note,customer) select now(), 'new', 1, md5(random()::text), '{}' from generate_series(1,60)"
    $P mongo -c "copy (select row_to_json(t) from t$t t order by id) to stdout" > $W/dumps/$n-$t.json
  done
  python3 - $n $W/dumps/$n-?.json > $W/series/mongodump/n$n.archive <<'PYTHON'
import random, sys

chance, left = random.Random(sys.argv[1]), [open(name, "rb").read() for name in sys.argv[2:]]
while left:
    number, size = chance.randrange(len(left)), chance.randrange(50_000, 1_000_000)
    sys.stdout.buffer.write(left[number][:size])
    left[number] = left[number][size:]
    left = [one for one in left if one]
PYTHON
done
$AS $B/pg_ctl -D $D -m fast stop >/dev/null
