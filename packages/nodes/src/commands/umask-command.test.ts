import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidWith } from './fixtures.ts'

for (const [script, expected] of [
  ['umask; umask -S', '0022\nu=rwx,g=rx,o=rx\n'],
  ['umask 27; umask; umask u=rwx,go=; umask; umask g+r; umask -S', '0027\n0077\nu=rwx,g=r,o=\n'],
  [
    'umask 077; echo x > /e/f; mkdir /e/d; touch /e/t; stat -c %a /e/f /e/d /e/t',
    '600\n700\n600\n',
  ],
  [
    'umask 0; mkdir -p /e/a/b; echo x | tee /e/f; stat -c %a /e/a /e/a/b /e/f',
    'x\n777\n777\n666\n',
  ],
  // What was there keeps its mode; mkdir -m asks for one.
  ['umask 077; echo x >> /a; mkdir -m 755 /e/d; stat -c %a /a /e/d', '644\n755\n'],
  // Of a shell within the shell it is its own.
  ['(umask 077; umask); umask; echo $(umask 7; umask); umask', '0077\n0022\n0007\n0022\n'],
  ['umask 077; sh -c "umask; umask 0"; umask; umask | cat', '0077\n0077\n0077\n'],
  ['umask 9', "sh: umask: invalid mode '9'\n(2)"],
  ['umask u+q', "sh: umask: invalid mode 'u+q'\n(2)"],
  ['umask -p', 'umask: -p is not known to simulated containers\n(2)'],
] as const)
  test(script, async () => assert.equal(await saidWith({ '/a': 'one\n' }, script), expected))
