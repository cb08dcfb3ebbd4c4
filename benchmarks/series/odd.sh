#!/bin/bash
# Series that are not regular: two databases that alternate in a collection, a foreign version, a cut one, and tables
# that are dumped in turns as mongodump does. Own PostgreSQL on a unix socket.
set -e
W=${1:?a folder}; B=/usr/lib/postgresql/15/bin; D=$W/pg; S=$W/pgsock
mkdir -p $S $W/dumps $W/series/{alternating,foreign,cut,interleaved}; chown -R postgres $S $W/dumps; mkdir -p $D; chown postgres $D
AS="setpriv --reuid=postgres --regid=postgres --clear-groups"
[ -f $D/PG_VERSION ] || $AS $B/initdb -D $D -A trust >/dev/null
$AS $B/pg_ctl -D $D status >/dev/null || $AS $B/pg_ctl -D $D -l $S/pg.log -w -o "-c listen_addresses= -c unix_socket_directories=$S -c fsync=off" start >/dev/null
P="$AS psql -h $S -q -v ON_ERROR_STOP=1"
for db in one other; do
  $P postgres -c "drop database if exists $db" -c "create database $db"
  for t in 1 2 3 4; do
    $P $db -c "create table t$t(id serial primary key, at timestamptz, state text, n int, note text)" -c "insert into t$t(at,state,n,note)
      select now()-i*interval '40 seconds', (array['done','shipped','new'])[1+i%3], (random()*1e6)::int, md5(random()::text) from generate_series(1,40000) i"
  done
done
for n in $(seq -w 1 10); do
  for db in one other; do
    for t in 1 2 3 4; do
      $P $db -c "update t$t set n=(random()*1e6)::int, note=md5(random()::text) where random()<0.008" -c "delete from t$t where random()<0.001" \
        -c "insert into t$t(at,state,n,note) select now(), 'new', (random()*1e6)::int, md5(random()::text) from generate_series(1,60)"
      [ $db = one ] && $AS $B/pg_dump -h $S -t t$t -f $W/dumps/$n-t$t.sql $db
    done
    $AS $B/pg_dump -h $S -f $W/dumps/$n-$db.sql $db
  done
  [ $((10#$n % 2)) = 1 ] && cp $W/dumps/$n-one.sql $W/series/alternating/n$n.sql || cp $W/dumps/$n-other.sql $W/series/alternating/n$n.sql
  python3 - $n $W/dumps/$n-t?.sql > $W/series/interleaved/n$n.archive <<'PYTHON'
import random, sys

chance, left = random.Random(sys.argv[1]), [open(name, "rb").read() for name in sys.argv[2:]]
while left:
    number, size = chance.randrange(len(left)), chance.randrange(50_000, 400_000)
    sys.stdout.buffer.write(left[number][:size])
    left[number] = left[number][size:]
    left = [one for one in left if one]
PYTHON
  if [ $((10#$n)) -le 8 ]; then
    cp $W/dumps/$n-one.sql $W/series/foreign/n$n.sql; cp $W/dumps/$n-one.sql $W/series/cut/n$n.sql
  fi
done
cp $W/dumps/04-other.sql $W/series/foreign/n04.sql
truncate -s 5000000 $W/series/cut/n04.sql
$AS $B/pg_ctl -D $D -m fast stop >/dev/null
