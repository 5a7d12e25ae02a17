import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sync, writtenStatus } from './fixtures.ts'
import { recordedPolicies } from './testing/recorded.ts'

/** Names of types end in the nanoseconds of their making. */
const unnumbered = (text: string): string => text.replaceAll(/\b([A-Z][A-Za-z]+)\d{6,9}\b/g, '$1#')

for (const { name, spec, warnings } of recordedPolicies) {
  test(`${name}: upstream's warnings, in their order`, () => {
    const run = sync({ metadata: { name, generation: 1 }, spec })
    const ours = writtenStatus(run)?.typeChecking?.expressionWarnings ?? []
    assert.deepEqual(
      ours.map(({ fieldRef, warning }) => [fieldRef, unnumbered(warning)]),
      Object.entries(warnings).map(([fieldRef, warning]) => [fieldRef, unnumbered(warning)]),
    )
  })
}

test('nearly five hundred warnings are among the recorded', () => {
  const count = recordedPolicies.flatMap(({ warnings }) => Object.keys(warnings)).length
  assert.ok(count >= 490, `${count} warnings`)
})
