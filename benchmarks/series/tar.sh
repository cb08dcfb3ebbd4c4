#!/bin/bash
# 7 nights of the files of a system, archived each night into FOLDER/series/tar. Each night some files change.
set -e
W=${1:?a folder}; T=$W/tree; mkdir -p $T $W/series/tar
cp -r --no-preserve=ownership /usr/share/doc /usr/share/perl /usr/lib/python3* $T/ 2>/dev/null || true
find $T -type l -delete
for n in $(seq -w 1 7); do
  find $T -type f | sort | awk -v n=$n '(NR * 7919 + n * 104729) % 200 == 0' | while read -r file; do echo "# changed in night $n" >> "$file"; done
  find $T -type f | sort | awk -v n=$n '(NR * 31 + n) % 1000 == 0' | while read -r file; do rm "$file"; done
  head -c 2000000 /dev/urandom | base64 > $T/doc/new-$n.txt
  tar -C $W --sort=name -cf $W/series/tar/n$n.tar tree
  echo $n $(stat -c %s $W/series/tar/n$n.tar)
done
rm -rf $T
