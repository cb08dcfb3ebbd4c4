#!/bin/bash
# Two series of a fleet: eight hosts with nearly equal databases, thirty versions. In `fleet`, rows change anywhere; in
# `fleet-recent`, which is a little smaller, only the latest rows of one table. Own PostgreSQL on a unix socket.
set -e
W=${1:?a folder}; B=/usr/lib/postgresql/15/bin; D=$W/pg; S=$W/pgsock
mkdir -p $S $W/dumps $W/series/fleet $W/series/fleet-recent; chown -R postgres $S $W/dumps; mkdir -p $D; chown postgres $D
AS="setpriv --reuid=postgres --regid=postgres --clear-groups"
[ -f $D/PG_VERSION ] || $AS $B/initdb -D $D -A trust >/dev/null
$AS $B/pg_ctl -D $D status >/dev/null || $AS $B/pg_ctl -D $D -l $S/pg.log -w -o "-c listen_addresses= -c unix_socket_directories=$S -c fsync=off" start >/dev/null
P="$AS psql -h $S -q -v ON_ERROR_STOP=1"
fill() {  # ROWS of each table
$P postgres -c "drop database if exists host0" -c "create database host0"
for t in 1 2 3 4; do
  $P host0 -c "create table t$t(id serial primary key, at timestamptz, state text, n int, note text)" -c "insert into t$t(at,state,n,note)
    select now()-i*interval '40 seconds', (array['done','shipped','new'])[1+i%3], (random()*1e6)::int,
      (select string_agg((array['order','invoice','customer','warehouse','transport','return'])[1+((i*7+k*k*13)%6)], ' ') from generate_series(1, 4+i%5) k)
      || ' ' || left(md5(random()::text), 6) from generate_series(1,$1) i"
done
}
make() {  # SERIES, which rows change each night, and of which tables
  for h in 1 2 3 4 5 6 7 8; do
    $P postgres -c "drop database if exists host$h" -c "create database host$h template host0"
  done
  count=0
  for n in 1 2 3 4; do
    for h in 1 2 3 4 5 6 7 8; do
      for t in $3; do
        $P host$h -c "update t$t set n=(random()*1e6)::int where $2 < 0.002" -c "delete from t$t where $2 < 0.0005" \
          -c "insert into t$t(at,state,n,note) select now(), 'new', (random()*1e6)::int, md5(random()::text) from generate_series(1,40)"
      done
      count=$((count+1)); [ $count -gt 30 ] && break
      $AS $B/pg_dump -h $S -f $W/dumps/dump.sql host$h
      mv $W/dumps/dump.sql $W/series/$1/n$n-host$h.sql
    done
  done
}
fill 42000
make fleet "random()" "1 2 3 4"
fill 36300
make fleet-recent "case when id > 36000 then random() / 42 else 1 end" 4
$AS $B/pg_ctl -D $D -m fast stop >/dev/null
