import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { hasStorageLimits, storageProblem } from './storage-limits.ts'

const MIB = 2 ** 20

interface Given {
  /** By container: its limit. */
  readonly limits?: Readonly<Record<string, string | undefined>>
  readonly volumes?: NonNullable<NonNullable<Pod['spec']>['volumes']>
}

const podOf = ({ limits = { c: undefined }, volumes = [] }: Given): Pod => ({
  spec: {
    volumes,
    containers: Object.entries(limits).map(([name, limit]) => ({
      name,
      ...(limit && { resources: { limits: { 'ephemeral-storage': limit } } }),
    })),
  },
})

function problem(given: Given, mebibytes: Readonly<Record<string, number>>) {
  const bytes = (name: string): number => (mebibytes[name] ?? 0) * MIB
  return storageProblem(podOf(given), { ofContainer: bytes, ofVolume: bytes })
}

test('an emptyDir may hold its size, of whatever medium', () => {
  for (const medium of ['', 'Memory'] as const) {
    const volumes = [{ name: 'v', emptyDir: { sizeLimit: '5Mi', medium } }]
    assert.equal(problem({ volumes }, { v: 5 }), undefined)
    const text = 'Usage of EmptyDir volume "v" exceeds the limit "5Mi". '
    assert.equal(problem({ volumes }, { v: 5.1 }), text)
  }
  assert.equal(problem({ volumes: [{ name: 'v', emptyDir: {} }] }, { v: 500 }), undefined)
})

test('all containers together may hold what their limits add up to, with volumes on disk', () => {
  const limits = { a: '5Mi', b: '3Mi' }
  const disk = [{ name: 'v', emptyDir: {} }]
  const text = 'Pod ephemeral local storage usage exceeds the total limit of containers 8Mi. '
  assert.equal(problem({ limits, volumes: disk }, { a: 4, b: 2, v: 3 }), text)
  assert.equal(problem({ limits, volumes: disk }, { a: 4, b: 2, v: 2 }), undefined)
  const memory = [{ name: 'v', emptyDir: { medium: 'Memory' } }] as const
  assert.equal(problem({ limits, volumes: memory }, { a: 4, b: 2, v: 9 }), undefined)
  assert.equal(problem({ limits: { a: '5Mi' } }, { a: 6 }), text.replace('8Mi', '5Mi'))
})

test('one container may hold its own limit', () => {
  const limits = { a: '5Mi', b: '3Mi' }
  const text = 'Container b exceeded its local ephemeral storage limit "3Mi". '
  assert.equal(problem({ limits }, { a: 1, b: 4 }), text)
  assert.equal(problem({ limits }, { a: 5, b: 3 }), undefined)
  assert.equal(problem({ limits: { a: undefined } }, { a: 500 }), undefined)
})

test('which pods are looked at', () => {
  assert.equal(hasStorageLimits(podOf({})), false)
  assert.equal(hasStorageLimits(podOf({ volumes: [{ name: 'v', emptyDir: {} }] })), false)
  assert.ok(hasStorageLimits(podOf({ limits: { a: '1Mi' } })))
  assert.ok(hasStorageLimits(podOf({ volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }] })))
})
