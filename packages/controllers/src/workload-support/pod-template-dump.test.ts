import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodSpec, PodTemplateSpec, Volume } from '@gyropilot/api'
import { podTemplateDump } from './pod-template-dump.ts'
import { dumpAmount, dumpQuantity } from './quantity-dump.ts'

function dumpOf(spec: object): string {
  return podTemplateDump({ spec: spec as PodSpec })
}
const labelled = (labels: Record<string, string | undefined>): string =>
  podTemplateDump({ metadata: { labels } } as PodTemplateSpec)

test('a map prints in the order of its names, its texts as they are, and nothing that is undefined', () => {
  for (const names of ['abc', 'acb', 'bac', 'bca', 'cab', 'cba']) {
    const labels = Object.fromEntries([...names].map((name) => [name, '1Gi']))
    assert.match(labelled(labels), /Labels:\(map\[string\]string\)map\[a:1Gi b:1Gi c:1Gi\]/)
  }
  assert.equal(labelled({ a: '1', b: undefined }), labelled({ a: '1' }))
})

test('a time prints as the seconds since year 1', () => {
  const metadata = { creationTimestamp: '2026-01-01T00:00:01Z' }
  assert.match(
    podTemplateDump({ metadata }),
    /CreationTimestamp:\(v1\.Time\)\{Time:\(time\.Time\)\{wall:\(uint64\)0 ext:\(int64\)63902822401 /,
  )
})

test('null prints as what is absent, in fields that 1.36 does not know too', () => {
  const plain = dumpOf({ containers: [] })
  for (const absent of [null, undefined]) {
    assert.equal(dumpOf({ containers: [], securityContext: absent }), plain)
    assert.equal(dumpOf({ containers: [], ofTheFuture: absent }), plain)
  }
  assert.notEqual(dumpOf({ containers: [], ofTheFuture: false }), plain)
})

test('a quantity by itself prints as quantities do, an absent one as 0', () => {
  const dumpOfVolume = (volume: Partial<Volume>): string =>
    dumpOf({ containers: [], volumes: [{ name: 'v', ...volume }] })
  const limited = dumpOfVolume({ emptyDir: { sizeLimit: '100Mi' } })
  assert.ok(limited.includes(`SizeLimit:(*resource.Quantity)${dumpQuantity('100Mi')}`))
  const field = (divisor?: string): string =>
    dumpOfVolume({
      downwardAPI: { items: [{ path: 'p', resourceFieldRef: { resource: 'r', divisor } }] },
    })
  assert.ok(field().includes(`Divisor:(resource.Quantity)${dumpQuantity('0')}`))
  assert.equal(field(), field('0'))
})

test('an amount that no int64 holds prints as a decimal of 64-bit words, the lowest first', () => {
  const large = (quantity: string): string => /Dec:.*\} s:/.exec(dumpQuantity(quantity))?.[0] ?? ''
  assert.match(
    large('-18446744073709551616m'),
    /unscaled:\(big\.Int\)\{neg:\(bool\)true abs:\(big\.nat\)\[0 1\]\} scale:\(inf\.Scale\)3\}/,
  )
  assert.match(large('18446744073709551617m'), /neg:\(bool\)false abs:\(big\.nat\)\[1 1\]/)
})

test('what is no quantity prints as it is', () => {
  assert.deepEqual([dumpQuantity('many'), dumpAmount('many')], ['many', 'many'])
})
