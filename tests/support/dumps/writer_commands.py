"""The lines of a shell by which programs write archives and compressed files, by the labels of the table in the docs.

Each runs in a folder with the dump `$DUMP` as its input. It writes the file `$OUT`, if it has it, or its output.
"""

import sys

_PYTHON = f"{sys.executable} -c"
_SPLIT = 'head -c 20000 "$DUMP"', 'tail -c +20001 "$DUMP"'
_ZIP_PYTHON = (
    f'{_PYTHON} \'import sys, zipfile; z = zipfile.ZipFile(%s, "w", 8); '
    'm = z.open("a.sql", "w"%s); m.write(sys.stdin.buffer.read()); m.close(); z.close()\''
)
_ZIP_PERL = 'perl -MIO::Compress::Zip=zip -e \'zip "-" => "-", Name => "a.sql"%s or die\''

_TAR_PYTHON = (
    f'{_PYTHON} \'import sys, tarfile; t = tarfile.open(fileobj=sys.stdout.buffer, mode="w|", format=tarfile.%s); '
    't.add("."); t.close()\''
)
_WITHOUT_PADDING = (
    f'{_PYTHON} \'import sys; c = sys.stdin.buffer.read().rstrip(b"\\0"); '
    "sys.stdout.buffer.write(c + bytes(-len(c) % 512 + 1024))'"
)

ZIP = {
    "`zip -r a.zip .`": 'zip -q -r "$OUT" .',
    "`zip -r - .`": "zip -q -r - .",
    "`zip` of its input": "zip -q",
    "`zip a.zip -`": 'zip -q "$OUT" -',
    "`zip - -`": "zip -q - -",
    "`zip -fz- - -`": "zip -q -fz- - -",
    "`zip -fz -r`": "zip -q -fz -r - .",
    "`zip -fd -r`": 'zip -q -fd -r "$OUT" .',
    "`zip -0 -r`": 'zip -q -0 -r "$OUT" .',
    "`zip -Z bzip2 -r`": 'zip -q -Z bzip2 -r "$OUT" .',
    "`zip -e`": 'zip -q -P secret -r "$OUT" .',
    "`zip` with a comment": 'echo "a comment" > ../comment; zip -q -r -z "$OUT" . < ../comment',
    "`7zz a -tzip`": '7zz a -tzip "$OUT" . > /dev/null',
    "`7zz a -tzip -si`": '7zz a -tzip -sia.sql "$OUT" > /dev/null',
    "`7zz a -tzip -so`": "7zz a -tzip -so -an .",
    "`7zz a -tzip -mm=LZMA`": '7zz a -tzip -mm=LZMA "$OUT" . > /dev/null',
    "`7zz a -tzip -mm=Deflate64`": '7zz a -tzip -mm=Deflate64 "$OUT" . > /dev/null',
    "`7zz a -tzip -mem=AES256`": '7zz a -tzip -psecret -mem=AES256 "$OUT" . > /dev/null',
    "`bsdtar --format zip`": 'bsdtar --format zip -cf "$OUT" .',
    "`bsdtar --format zip` piped": "bsdtar --format zip -c . | cat",
    "`bsdtar --format zip` stored": "bsdtar --format zip --options zip:compression=store -c . | cat",
    "`bsdtar --format zip` zip64": "bsdtar --format zip --options zip:zip64 -c . | cat",
    "`bsdtar --format zip` encrypted": "bsdtar --format zip --options zip:encryption=aes256 --passphrase a -c . | cat",
    "Python a file": _ZIP_PYTHON % ('"\'"$OUT"\'"', ""),
    "Python `force_zip64`": _ZIP_PYTHON % ('"\'"$OUT"\'"', ", force_zip64=True"),
    "Python piped": _ZIP_PYTHON % ("sys.stdout.buffer", "") + " | cat",
    "Python piped `force_zip64`": _ZIP_PYTHON % ("sys.stdout.buffer", ", force_zip64=True") + " | cat",
    "Perl streamed": _ZIP_PERL % "",
    "Perl streamed zip64": _ZIP_PERL % ", Zip64 => 1",
    "Perl stored": _ZIP_PERL % ", Method => 0, Stream => 1",
    "`pigz -K`": "pigz -K",
    "`git archive --format=zip`": "git -C ../repository archive --format=zip HEAD",
}
JAR = {
    "`jar`": 'jar -cf "$OUT" .',
    "`jar` piped": "jar -c .",
    "`jar -0`": "jar -c -0 .",
}
XZ = {
    "`xz`": "xz -c",
    "`xz -T2`": "xz -T2 --block-size=20000 -c",
    "`xz --check=none`": "xz --check=none -c",
    "`xz --check=sha256`": "xz --check=sha256 -c",
    "`xz --x86 --lzma2`": "xz --x86 --lzma2 -c",
    "`xz --delta --lzma2`": "xz --delta=dist=4 --lzma2=preset=1 -c",
    "`xz --flush-timeout`": "xz --flush-timeout=1 -c",
    "`pixz`": "pixz",
    "`pixz` of a tar archive": "tar -c . | pixz",
    "`pixz -t` of a tar archive": "tar -c . | pixz -t",
    "`tar -I pixz`": 'tar -I pixz -cf "$OUT" .',
    "`pixz -i -o`": 'tar -cf ../t.tar .; pixz -i ../t.tar -o "$OUT"',
    "`7zz a -txz`": '7zz a -txz -si "$OUT" > /dev/null',
    "`bsdtar -J`": "bsdtar -cJ .",
    "`zstd --format=xz`": "zstd -q --format=xz -c",
    "`xz` several streams": f"{{ {_SPLIT[0]} | xz -c; {_SPLIT[1]} | xz -c; }}",
    "`xz` several streams with padding": f"{{ {_SPLIT[0]} | xz -c; head -c 8 /dev/zero; {_SPLIT[1]} | xz -c; }}",
}
GZIP = {
    "`gzip`": "gzip -c",
    "`gzip -9 --name`": 'gzip -9 -N -c "$DUMP"',
    "`gzip --rsyncable`": "gzip --rsyncable -c",
    "`gzip` several members": f"{{ {_SPLIT[0]} | gzip -c; {_SPLIT[1]} | gzip -c; }}",
    "`gzip` zeros of a tape": "gzip -c | dd bs=10240 conv=sync status=none",
    "`pigz`": "pigz",
    "`pigz -i -R`": "pigz -i -R -b 128",
    "`pigz -11`": "pigz -11",
    "`pigz -C`": "pigz -C comment",
    "`bgzip`": "bgzip -c",
    "`bgzip -l 0`": "bgzip -c -l 0",
    "`busybox gzip`": "busybox gzip -c",
    "`7zz a -tgzip`": '7zz a -tgzip -si "$OUT" > /dev/null',
    "`zstd --format=gzip`": "zstd -q --format=gzip -c",
    "`bsdtar -z`": "bsdtar -cz .",
    "`git archive --format=tgz`": "git -C ../repository archive --format=tgz HEAD",
    "Perl streamed": 'perl -MIO::Compress::Gzip=gzip -e \'gzip "-" => "-" or die\'',
    "Python": f'{_PYTHON} \'import gzip, sys; f = gzip.open(sys.stdout.buffer, "w"); '
    "f.write(sys.stdin.buffer.read()); f.close()'",
}
ZSTD = {
    "`zstd`": "zstd -q -c",
    "`zstd -T2`": "zstd -q -T2 -B100KB -c",
    "`zstd --long`": "zstd -q --long=27 -c",
    "`zstd --ultra -22`": "zstd -q --ultra -22 -c",
    "`zstd --rsyncable`": "zstd -q -T2 --rsyncable -c",
    "`zstd --adapt`": "zstd -q --adapt -c",
    "`zstd --no-check`": "zstd -q --no-check -c",
    "`zstd --fast`": "zstd -q --fast=5 -c",
    "`zstd` a file with its size": 'zstd -q "$DUMP" -o "$OUT"',
    "`pzstd`": 'pzstd -q -p 2 -c "$DUMP"',
    "`pzstd` of its input": "pzstd -q -p 2 -c",
    "`zstd` several frames": f"{{ {_SPLIT[0]} | zstd -q -c; {_SPLIT[1]} | zstd -q -c; }}",
    "`zstd` with skippable frames": "{ printf '\\123\\052\\115\\030\\005\\000\\000\\000hello'; zstd -q -c; "
    "printf '\\120\\052\\115\\030\\003\\000\\000\\000end'; }",
    "`bsdtar --zstd`": "bsdtar -c --zstd .",
}
BZIP2 = {
    "`bzip2`": "bzip2 -c",
    "`bzip2 -1` several streams": f"{{ {_SPLIT[0]} | bzip2 -1 -c; {_SPLIT[1]} | bzip2 -1 -c; }}",
    "`pbzip2`": "pbzip2 -c -b1 -p2",
    "`lbzip2`": "lbzip2 -c -n2 -1",
    "`busybox bzip2`": "busybox bzip2 -c",
    "`7zz a -tbzip2`": '7zz a -tbzip2 -si "$OUT" > /dev/null',
    "`bsdtar -j`": "bsdtar -cj .",
    "Perl": 'perl -MIO::Compress::Bzip2=bzip2 -e \'bzip2 "-" => "-" or die\'',
}
LZ4 = {
    "`lz4`": "lz4 -q -c",
    "`lz4 -BD -BX`": "lz4 -q -B4 -BD -BX -c",
    "`lz4 --content-size`": 'lz4 -q --content-size -c "$DUMP"',
    "`lz4 --no-frame-crc`": "lz4 -q --no-frame-crc -c",
    "`lz4` several frames": f"{{ {_SPLIT[0]} | lz4 -q -c; {_SPLIT[1]} | lz4 -q -c; }}",
    "`zstd --format=lz4`": "zstd -q --format=lz4 -c",
    "`bsdtar --lz4`": "bsdtar -c --lz4 .",
    "`lz4 -l`": "lz4 -q -l -c",
    "`lz4` then `lz4 -l`": f"{{ {_SPLIT[0]} | lz4 -q -c; {_SPLIT[1]} | lz4 -q -l -c; }}",
    "`lz4 -l` several frames": f"{{ {_SPLIT[0]} | lz4 -q -l -c; {_SPLIT[1]} | lz4 -q -l -c; }}",
}
TAR = {
    "`tar`": "tar -c .",
    "`tar --format=v7`": "tar -c --format=v7 .",
    "`tar --format=oldgnu -S`": "tar -cS --format=oldgnu .",
    "`tar --format=ustar`": "tar -c --format=ustar .",
    "`tar --format=pax`": "tar -c --format=pax .",
    "`tar -S`": "tar -cS .",
    "`tar -S --sparse-version=0.0`": "tar -cS --format=pax --sparse-version=0.0 .",
    "`tar -S --sparse-version=0.1`": "tar -cS --format=pax --sparse-version=0.1 .",
    "`tar -S --sparse-version=1.0`": "tar -cS --format=pax --sparse-version=1.0 .",
    "`tar --xattrs --acls`": "tar -c --xattrs --acls .",
    "`tar -g`": "rm -f ../state; tar -c -g ../state .",
    "`tar -V`": "tar -c -V backup .",
    "`tar -b 1`": "tar -c -b 1 .",
    "`tar -b 128`": "tar -c -b 128 .",
    "`tar -A`": "tar -cf ../1.tar sub; tar -cf ../2.tar noise.bin; tar -Af ../1.tar ../2.tar; cat ../1.tar",
    "`tar` read with `-i`": "{ tar -c -b 1 sub; tar -c noise.bin; }",
    "`tar -r`": "tar -cf ../1.tar sub; tar -rf ../1.tar noise.bin; cat ../1.tar",
    "`tar --delete`": "tar -cf ../1.tar .; tar -f ../1.tar --delete ./sub/text.txt; cat ../1.tar",
    "`tar -W`": 'tar -cWf "$OUT" .',
    "`tar -R -v -h`": "tar -chR .",
    "`tar` `dd conv=sync`": "tar -c . | dd bs=64k iflag=fullblock conv=sync status=none",
    "`bsdtar`": "bsdtar -c .",
    "`bsdtar --format pax`": "bsdtar -c --format pax .",
    "`bsdtar --format ustar`": "bsdtar -c --format ustar .",
    "`bsdtar --format gnutar`": "bsdtar -c --format gnutar .",
    "`bsdtar --format v7`": "bsdtar -c --format v7 .",
    "`busybox tar`": "busybox tar -c .",
    "`cpio -H tar`": "find . | cpio --quiet -o -H tar",
    "`cpio -H ustar`": "find . | cpio --quiet -o -H ustar",
    "`git archive`": "git -C ../repository archive HEAD",
    "`7zz a -ttar`": '7zz a -ttar "$OUT" . > /dev/null',
    "Python gnu": _TAR_PYTHON % "GNU_FORMAT",
    "Python pax": _TAR_PYTHON % "PAX_FORMAT",
    "Perl": 'perl -MArchive::Tar -MFile::Find -e \'my @f; find(sub { push @f, $File::Find::name }, "."); '
    'print Archive::Tar->create_archive("../p.tar", 0, @f)\' > /dev/null; cat ../p.tar',
    "`tar` two blocks of zeros only": f"tar -c . | {_WITHOUT_PADDING}",
}
CPIO = {
    "`cpio`": "find . | cpio --quiet -o",
    "`cpio -H odc`": "find . | cpio --quiet -o -H odc",
    "`cpio -H newc`": "find . | cpio --quiet -o -H newc",
    "`cpio -H crc`": "find . | cpio --quiet -o -H crc",
    "`cpio -H hpodc`": "find . | cpio --quiet -o -H hpodc",
    "`cpio -c --io-size`": "find . | cpio --quiet -o -c -C 10240",
    "`bsdtar --format cpio`": "bsdtar -c --format cpio .",
    "`bsdtar --format newc`": "bsdtar -c --format newc .",
    "`bsdcpio`": "find . | bsdcpio --quiet -o -H newc",
    "`busybox cpio`": "find . | busybox cpio -o -H newc",
    "`cpio` two archives": "echo ./sub/text.txt > ../1; echo ./noise.bin > ../2; "
    "{ cpio --quiet -o -H newc < ../1; cpio --quiet -o -H newc < ../2; }",
}
SEVEN_ZIP = {
    "`7zz a`": '7zz a "$OUT" . > /dev/null',
    "`7zz a -si`": '7zz a -sia.sql "$OUT" > /dev/null',
    "`7zz a -mhe`": '7zz a -psecret -mhe=on "$OUT" . > /dev/null',
    "`7zz a -mhc=off`": '7zz a -mhc=off "$OUT" . > /dev/null',
    "`7zz a -ms=off -m0=bzip2`": '7zz a -ms=off -m0=bzip2 "$OUT" . > /dev/null',
    "`bsdtar --format 7zip`": 'bsdtar --format 7zip -cf "$OUT" .',
    "`bsdtar --format 7zip` piped": "bsdtar --format 7zip -c . | cat",
}
OTHERS = {
    "`zip` behind a script": '{ echo "#!/bin/sh"; zip -q -r - . | cat; }',
    "`plzip`": "plzip -c",
    "`lzop`": "lzop -c",
    "`xz --format=lzma`": "xz --format=lzma -c",
    "`pigz -z`": "pigz -z",
    "`bsdtar --format ar`": "bsdtar --format ar -c noise.bin",
    "`bsdtar --format shar`": "bsdtar --format shar -c .",
    "`bsdtar --format xar`": "bsdtar --format xar -c .",
    "`bsdtar --format iso9660`": 'bsdtar --format iso9660 -cf "$OUT" .',
    "`bsdtar --format warc`": "bsdtar --format warc -c .",
    "`bsdtar --format mtree`": "bsdtar --format mtree -c .",
    "`7zz a -twim`": '7zz a -twim "$OUT" . > /dev/null',
}
