import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changed } from './chmod-command.ts'
import { saidWith } from './fixtures.ts'

for (const [mode, before, expected] of [
  ['755', 0o644, 0o755],
  ['u+x', 0o644, 0o744],
  ['+x', 0o644, 0o755],
  ['go-rw,u=rwx', 0o666, 0o700],
  ['a=r', 0o777, 0o444],
  ['o+rwx', 0o3700, 0o3707],
  ['u+q', 0o644, undefined],
  ['9', 0o644, undefined],
] as const)
  test(`chmod ${mode} of ${before.toString(8)}`, () =>
    assert.equal(changed(mode, before), expected))

const SCRIPT = '#!/bin/sh\necho "ran $1"; exit 3\n'

for (const [script, files, expected] of [
  ['chmod u+x /s.sh; /s.sh a', { '/s.sh': SCRIPT }, 'ran a\n(3)'],
  ['chmod +x /s.sh; cd /; ./s.sh b', { '/s.sh': SCRIPT }, 'ran b\n(3)'],
  ['chmod u+x /s.sh;/s.sh;', { '/s.sh': 'echo plain\n' }, 'plain\n'],
  ['/s.sh', { '/s.sh': SCRIPT }, 'sh: /s.sh: Permission denied\n(126)'],
  ['chmod 755 /s; /s', { '/s': '#!/usr/bin/env bash -e\nfalse\necho on\n' }, '(1)'],
  ['chmod 600 /nosuch', {}, 'chmod: /nosuch: No such file or directory\n(1)'],
  ['chmod -R 700 /d; stat -c %a /d /d/f', { '/d/f': '' }, '700\n700\n'],
  [
    'ls -R /d; cd /d; ls -aR e/',
    { '/d/f': '', '/d/e/g/h': '', '/d/e/.i': '' },
    '/d:\ne\nf\n\n/d/e:\ng\n\n/d/e/g:\nh\ne/:\n.i\ng\n\ne/g:\nh\n',
  ],
  ['sync; chmod go=', { '/f': '' }, "chmod: invalid mode 'go='\n(1)"],
] as const)
  test(script, async () => {
    assert.equal(await saidWith(files, script), expected)
  })

test('what no shell of a container runs is no command that is known', async () => {
  assert.match(
    await saidWith({ '/p': '#!/usr/bin/python\n' }, 'chmod +x /p; /p'),
    /\/p: not found\n\(127\)$/,
  )
})
