import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../registry/kind-rules.ts'
import { endpoints } from './endpoints.ts'

test('Given subsets, then the row lists three addresses, port by port.', () => {
  const { cell } = endpoints.columns!.find(({ name }) => name === 'Endpoints')!
  const addresses = [{ ip: '10.0.0.9' }, { ip: 'fd00::1' }]
  const ports = [{ port: 1 }, { port: 2 }]
  const cases: readonly (readonly [Draft[], string])[] = [
    [[], '<none>'],
    [[{ addresses }], '10.0.0.9,fd00::1'],
    [[{ addresses, ports }], '10.0.0.9:1,[fd00::1]:1,10.0.0.9:2 + 1 more...'],
    [[{ notReadyAddresses: addresses, ports }], ''],
  ]
  for (const [subsets, text] of cases) assert.equal(cell({ subsets }, 0), text)
})
