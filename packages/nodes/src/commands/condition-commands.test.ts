import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidWith } from './fixtures.ts'

for (const [script, expected] of [
  ['[ "" -eq 0 ]', 'sh: : bad number\n(2)'],
  ['[ a -lt 3 ] || echo no', 'sh: a: bad number\nno\n'],
  ['[ " 4 " -gt -3 ] && [ +4 -eq 4 ] && echo yes', 'yes\n'],
  ['[ 9007199254740993 -eq 9007199254740992 ]', '(1)'],
  ['[ ! 3 -lt 3 ] && echo yes', 'yes\n'],
  ['[[ abc == a* ]] && [[ abc = ?bc ]] && [[ abc != b* ]] && echo yes', 'yes\n'],
  ['[[ abc == "a*" ]]', '(1)'],
  ['[ abc = "a*" ]', '(1)'],
  // Values stay whole, and are no names of files.
  [
    'x="a b"; [[ $x == a* ]] && [[ -n $x ]] && [[ -z $none ]] && [[ $none == "" ]] && echo yes',
    'yes\n',
  ],
  ['cd /e; touch h1 h2; [[ here == h* ]] && echo yes', 'yes\n'],
  ['[[ "" -eq 0 ]] && echo yes', 'yes\n'],
  ['[[ x =~ y ]]', 'sh: x =~ y: unknown operand\n(2)'],
] as const)
  test(script, async () => assert.equal(await saidWith({}, script), expected))
