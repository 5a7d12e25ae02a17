import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidWith } from './fixtures.ts'

const status = (capabilities: string) => ({ '/proc/self/status': `CapEff:\t${capabilities}\n` })
const FILES = { '/a': 'xyz', '/b': '' }
const HELP = 'ip: simulated containers know ip link add NAME type TYPE, and ip link del NAME\n(1)'

for (const [script, files, expected] of [
  ['ip link add d1 type dummy && ip link del d1', status('000001ffffffffff'), ''],
  ['/sbin/ip link add d1 type dummy', status('0000000000001000'), ''],
  [
    'ip link add d1 type dummy',
    status('00000000a80425fb'),
    'ip: RTNETLINK answers: Operation not permitted\n(2)',
  ],
  ['ip addr', status('0'), HELP],
  ['ip link add d1', status('0'), HELP],
  [
    "stat -c '%n %s %a %A %u:%g %U %F 100%%' /a",
    FILES,
    '/a 3 644 -rw-r--r-- 0:0 root regular file 100%\n',
  ],
  ["stat -c='%g' /a $(find / -type f | sort | tail -n1)", FILES, '=0\n=0\n'],
  ['stat -L -c %F /e b', FILES, 'directory\nregular empty file\n'],
  [
    'stat -c %n /nosuch /a',
    FILES,
    "stat: can't stat '/nosuch': No such file or directory\n/a\n(1)",
  ],
  ['stat /a', FILES, 'stat: simulated containers know stat -c FORMAT FILE\n(1)'],
] as const)
  test(script, async () => {
    assert.equal(await saidWith(files, script), expected)
  })
