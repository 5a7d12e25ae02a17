import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileStore } from '../files/file-store.ts'
import { FileTree } from '../files/file-tree.ts'
import { inputOf } from '../shell/input.ts'
import { runCommand } from '../shell/run-command.ts'
import { placeWith, saidWith } from './fixtures.ts'
import { TAR_END, packEntry } from './tar.ts'
import type { TarHeader } from './tar.ts'

const FILES = { '/d/a': 'one\n', '/d/e/b.log': 'two\n', '/d/e/node_modules/c': 'three\n' }
const PACKED = 'tar cf /e/x -C / d; cd /e; '

for (const [script, expected] of [
  // Letters together, apart, without a dash, in any order; words.
  ['tar -c -f /e/x d/a; tar -t -f /e/x', 'd/a\n'],
  ['tar -cf/e/x d/a; tar tf /e/x', 'd/a\n'],
  ['tar -f /e/x -c d/a; cd /e; tar -xvf x; cat d/a', 'd/a\none\n'],
  ['tar cfC /e/x /d a; tar tf /e/x', 'a\n'],
  ['tar --create --file=/e/x --directory /d a; tar --list --file /e/x', 'a\n'],
  ['tar c d/a | tar t', 'd/a\n'],
  ['tar cvf /e/x d', 'd/\nd/a\nd/e/\nd/e/b.log\nd/e/node_modules/\nd/e/node_modules/c\n'],
  ['tar -cf - d/a -v | tar -xO --to-stdout', 'd/a\none\n'],
  // Each operand counts from the -C before it, and each -C from the one before.
  ['tar cf /e/x -C d a -C e b.log; tar tf /e/x', 'a\nb.log\n'],
  [
    'cd d; tar cf /e/x .; tar tf /e/x',
    './\n./a\n./e/\n./e/b.log\n./e/node_modules/\n./e/node_modules/c\n',
  ],
  [
    'tar cf /e/x d/a -- -v',
    'tar: -v: No such file or directory\ntar: error exit delayed from previous errors\n(1)',
  ],
  // What --no-preserve of kubectl cp asks for.
  [
    `chmod 777 d/a; ${PACKED}tar --no-same-permissions --no-same-owner -xmf x; stat -c %a d/a`,
    '755\n',
  ],
  [
    `chmod 777 d/a; ${PACKED}umask 77; tar --no-same-permissions -xmf x; stat -c %a d/a d`,
    '700\n700\n',
  ],
  [`chmod 751 d/a; ${PACKED}umask 77; tar xf x; stat -c %a d/a d`, '751\n755\n'],
  // Chosen.
  [`${PACKED}tar tf x --exclude '*.log' --exclude=node_modules`, 'd/\nd/a\nd/e/\n'],
  ['tar c --exclude=e/ d | tar t', 'd/\nd/a\n'],
  [
    `${PACKED}tar xf x d/e/node_modules d/a; cat d/a d/e/node_modules/c; ls d/e`,
    'one\nthree\nnode_modules\n',
  ],
  [`${PACKED}tar xf x d/z`, 'tar: d/z: not found in archive\n(1)'],
  [`${PACKED}tar xf x --strip-components=2; ls`, 'b.log\nnode_modules\nx\n'],
  [
    `${PACKED}mkdir d; echo old > d/a; tar xkf x; cat d/a d/e/b.log`,
    "tar: can't create 'd/a': File exists\nold\ntwo\n",
  ],
  [`${PACKED}tar xOf x d/a d/e/b.log; ls`, 'one\ntwo\nx\n'],
  // Compressed.
  [
    'tar -czf /e/x.tgz d/a; cd /e; tar xzf x.tgz; cat d/a; rm -r d; tar xf x.tgz; cat d/a',
    'one\none\n',
  ],
  ['tar --gzip -c d/a | tar --gunzip -t', 'd/a\n'],
  [`${PACKED}tar xzf x`, 'tar: invalid gzip magic\n(1)'],
  ['tar cz d | head -c 60 | tar xz', 'tar: unexpected end of archive\n(1)'],
  // What leads out of the folder does not.
  [
    'tar cf /e/x /d/a /d/e/b.log; tar tf /e/x',
    "tar: removing leading '/' from member names\nd/a\nd/e/b.log\n",
  ],
  ['cd d/e; tar c ../a | tar t', "tar: removing leading '../' from member names\na\n"],
  [
    'cd /e; echo x > f; tar cf x .; tar tf x',
    'tar: ./x: file is the archive; not dumped\n./\n./f\n',
  ],
  // Complaints.
  [
    'tar cf /e/x nosuch d/a; tar tf /e/x',
    'tar: nosuch: No such file or directory\ntar: error exit delayed from previous errors\nd/a\n',
  ],
  [
    'tar c nosuch | wc -c',
    'tar: nosuch: No such file or directory\ntar: error exit delayed from previous errors\n0\n',
  ],
  ['tar c', 'tar: empty archive\n(1)'],
  ['tar -f x', 'tar: one of -c, -x and -t must be given\n(1)'],
  ['tar -cxf x', 'tar: one of -c, -x and -t must be given\n(1)'],
  ['tar cf', 'tar: option requires an argument: -f\n(1)'],
  ['tar xf nosuch', "tar: can't open 'nosuch': No such file or directory\n(1)"],
  ['tar xf /d/a', 'tar: unexpected end of archive\n(1)'],
  [
    'dd if=/dev/zero of=/e/x bs=1 count=500 status=none; printf x%512s >> /e/x; tar xf /e/x -C /nosuch',
    "tar: can't change directory to '/nosuch': No such file or directory\n(1)",
  ],
  ['printf x%600s | tar x', 'tar: invalid tar magic\n(1)'],
  [`${PACKED}cd /ro; tar xf /e/x`, "tar: can't create 'd/': Read-only file system\n(1)"],
  ['tar xf x --strip-components=z', "tar: invalid number 'z'\n(1)"],
  ['tar -cJf x d', 'tar: -J is not known to simulated containers\n(1)'],
  ['tar --append -f x d', 'tar: --append is not known to simulated containers\n(1)'],
] as const)
  test(script, async () => assert.equal(await saidWith(FILES, script), expected))

const PLAIN: TarHeader = {
  name: 'f',
  kind: 'file',
  target: '',
  mode: 0o644,
  uid: 0,
  gid: 0,
  timeMs: 0,
}

/** Everything in it is ASCII. */
function archiveOf(...entries: readonly Partial<TarHeader>[]): string {
  const packed = entries.map((entry) =>
    packEntry({ ...PLAIN, ...entry }, entry.kind ? Buffer.from('') : Buffer.from('text\n')),
  )
  return Buffer.concat([...packed, TAR_END]).toString('latin1')
}

const symlink = (name: string, target: string) => ({ name, target, kind: 'symlink' }) as const

for (const [title, entries, script, expected] of [
  [
    'links become copies of what they lead to, whatever comes first',
    [
      symlink('bin/run', '../lib/run'),
      symlink('lib', 'lib64'),
      { name: 'lib64/run' },
      { name: 'h', target: 'lib64/run', kind: 'link' },
    ],
    'tar xf /x -C /e; cd /e; cat bin/run lib/run h; ls',
    'text\ntext\ntext\nbin\nh\nlib\nlib64\n',
  ],
  [
    'links to nothing are said, and the rest is there',
    [
      symlink('a', 'nosuch'),
      symlink('b', 'c'),
      symlink('c', 'b'),
      symlink('up', '..'),
      { name: 'f' },
    ],
    'tar xf /x -C /e; cat /e/f',
    ['a', 'b', 'c', 'up']
      .map((name) => `tar: can't create '${name}': what the link leads to is not there\n`)
      .join('') + 'text\n',
  ],
  [
    'names do not lead out of the folder',
    [{ name: '/etc/f' }, { name: '../../g' }],
    'tar xf /x -C /e; cd /e; cat etc/f g; ls / /etc',
    "tar: removing leading '/' from member names\ntar: removing leading '../../' from member names\ntext\ntext\n/:\ne\nro\nx\nls: /etc: No such file or directory\n(1)",
  ],
  [
    'lists say what they are',
    [
      { name: 'f', mode: 0o750, uid: 1000, gid: 2000, timeMs: 86_400_000 },
      symlink('l', 'f'),
      { name: 'd', kind: 'folder' },
    ],
    'tar tvf /x',
    '-rwxr-x--- 1000/2000         5 1970-01-02 00:00 f\nlrw-r--r-- root/root         0 1970-01-01 00:00 l -> f\ndrw-r--r-- root/root         0 1970-01-01 00:00 d/\n',
  ],
  [
    'root keeps owners unless it is asked not to',
    [{ name: 'f', uid: 1000, gid: 2000 }],
    'tar xf /x -C /e; stat -c "%u %g" /e/f; rm /e/f; tar xof /x -C /e; stat -c "%u %g" /e/f',
    '1000 2000\n0 0\n',
  ],
] as const)
  test(title, async () =>
    assert.equal(await saidWith({ '/x': archiveOf(...entries) }, script), expected),
  )

test('others than root keep neither owners nor special bits', async () => {
  const files = new FileTree(new FileStore(), [])
  const stdin = inputOf(Buffer.from(archiveOf({ mode: 0o4777, uid: 5, gid: 5 }), 'latin1'))
  const place = { ...placeWith(files), user: { uid: 1000, gid: 1000, groups: [1000] } }
  const streams = { stdin, out: async () => {}, err: async () => {} }
  assert.equal(await runCommand(['tar', 'x'], streams, place, new Map()), 0)
  const { mode, uid, gid } = files.status('/f')
  assert.deepEqual([mode, uid, gid], [0o755, 0, 0])
})
