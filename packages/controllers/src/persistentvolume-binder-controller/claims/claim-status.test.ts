import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeClaim } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import { refused } from '../../workload-support/fixtures.ts'
import { claim, volume, world } from '../fixtures.ts'
import { loseClaim, writeClaimStatus } from './claim-status.ts'

type Phase = NonNullable<NonNullable<PersistentVolumeClaim['status']>['phase']>

test('the class of attributes is taken over from the volume where a claim that waited is bound', () => {
  const cases: readonly (readonly [Phase, Phase, string | undefined, boolean])[] = [
    ['Pending', 'Bound', 'gold', true],
    ['Pending', 'Bound', undefined, false],
    ['Lost', 'Bound', 'gold', false],
    ['Pending', 'Lost', 'gold', false],
  ]
  for (const [before, phase, volumeAttributesClassName, isTaken] of cases) {
    const { binder } = world([])
    const bound = volume('v', { spec: { volumeAttributesClassName } })
    const rules = writeClaimStatus(binder, claim('c', { phase: before }), phase, bound)
    const [write] = drive(rules).writes as unknown as [{ object: PersistentVolumeClaim }]
    const { status = {} } = write.object
    assert.equal('currentVolumeAttributesClassName' in status, isTaken, `${before} ${phase}`)
  }
})

test('a provisioning has ended when the claim is known to be bound', () => {
  const here = world([])
  here.binder.times.begun('ns/c', 'provision', () => 'disk.example.com')
  const took = (phase: Phase, isWritten: boolean): number => {
    const rules = writeClaimStatus(here.binder, claim('c', { phase: 'Lost' }), phase, volume())
    drive(rules, isWritten ? {} : { onWrite: () => refused(409, 'Conflict') })
    const labels = { plugin_name: 'disk.example.com', operation_name: 'provision' }
    return here.metrics.observed('volume_operation_total_seconds', labels).length
  }
  assert.deepEqual([took('Pending', true), took('Bound', false), took('Bound', true)], [0, 0, 1])
})

test('that a claim is lost is not told before it is written', () => {
  const { binder } = world([])
  const loss = { reason: 'ClaimLost', message: 'gone' } as const
  const rules = loseClaim(binder, claim('c', { phase: 'Bound' }), loss)
  const { events, result } = drive(rules, { onWrite: () => refused(409, 'Conflict') })
  assert.deepEqual([events, (result?.error as Error | undefined)?.message], [[], 'Conflict'])
})
