import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, Pod } from '@gyropilot/api'
import { oomScoreOf } from './oom-score.ts'

const asking = (memory?: string): Container => ({
  name: 'c',
  image: 'x',
  ...(memory === undefined ? {} : { resources: { requests: { memory } } }),
})
type Class = NonNullable<NonNullable<Pod['status']>['qosClass']>
const of = (qosClass: Class, container: Container, priority = 0): number =>
  oomScoreOf(
    { spec: { priority, containers: [asking('2Gi')] }, status: { qosClass } },
    container,
    8 * 2 ** 30,
  )

for (const [title, score, expected] of [
  ['Guaranteed', of('Guaranteed', asking('1Gi')), -997],
  ['BestEffort', of('BestEffort', asking()), 1000],
  ['Burstable, an eighth of the node', of('Burstable', asking('1Gi')), 875],
  ['Burstable, nothing asked for', of('Burstable', asking()), 999],
  ['Burstable, all of the node', of('Burstable', asking('8Gi')), 3],
  [
    'a sidecar beside what asks for more',
    of('Burstable', { ...asking(), restartPolicy: 'Always' }),
    750,
  ],
  ['critical for its node', of('Burstable', asking(), 2_000_001_000), -997],
] as const)
  test(`what goes first without memory: ${title}`, () => assert.equal(score, expected))
