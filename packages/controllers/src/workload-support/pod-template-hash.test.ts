import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodTemplateSpec } from '@gyropilot/api'
import { podTemplateDump } from './pod-template-dump.ts'
import { podTemplateHash, sameTemplate } from './pod-template-hash.ts'
import { dumpQuantity } from './quantity-dump.ts'

/** As the server stores it. */
function template(image: string, spec: Partial<PodTemplateSpec['spec']> = {}): PodTemplateSpec {
  return {
    metadata: { labels: { app: 'a' } },
    spec: {
      containers: [
        {
          image,
          imagePullPolicy: 'IfNotPresent',
          name: 'c',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
        },
      ],
      dnsPolicy: 'ClusterFirst',
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
      ...spec,
    },
  }
}

/** Names that kube-controller-manager 1.36 gave to ReplicaSets and DaemonSet revisions. */
const recorded: readonly {
  readonly template: PodTemplateSpec
  readonly collisionCount?: number
  readonly hash: string
}[] = [
  { template: template('img:1'), hash: '75c6699794' },
  { template: template('img:2'), hash: '549559cfc' },
  { template: template('img:9'), hash: '569b9d675d' },
  { template: template('img:1', { nodeSelector: { set: 'trace' } }), hash: '6fb7b6dd76' },
  { template: template('img:2', { nodeSelector: { set: 'trace' } }), hash: '7b844cd9' },
  {
    template: template('img:1', { nodeSelector: { set: 'e8' } }),
    collisionCount: 1,
    hash: '577c447bf9',
  },
]
for (const { template: recordedTemplate, collisionCount, hash } of recorded) {
  test(`the hash of a recorded template is ${hash}`, () => {
    assert.equal(podTemplateHash(recordedTemplate, collisionCount), hash)
  })
}

test('Given collisionCount 1 and 2 (or nil and MaxInt32), when hashing the same template, then hashes differ', () => {
  const hashes = [undefined, 0, 1, 2, 2_147_483_647].map((count) =>
    podTemplateHash(template('img:1'), count),
  )
  assert.equal(new Set(hashes).size, hashes.length)
})

test('every change of a template changes its print, fields that 1.36 does not know included', () => {
  const changes: readonly PodTemplateSpec[] = [
    template('img:1'),
    template('img:2'),
    template('img:1', { hostNetwork: true }),
    template('img:1', { terminationGracePeriodSeconds: 0 }),
    template('img:1', { terminationGracePeriodSeconds: undefined }),
    template('img:1', { securityContext: undefined }),
    template('img:1', { volumes: [{ name: 'v' }] }),
    template('img:1', { volumes: [{ name: 'v', emptyDir: {} }] }),
    template('img:1', { volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }] }),
    template('img:1', { tolerations: [{ key: 'k', tolerationSeconds: 5 }] }),
    template('img:1', { overhead: { cpu: '1' } }),
    template('img:1', { fieldOfTheFuture: 1 } as object),
    template('img:1', { volumes: [{ name: 'v', future: {} } as { name: string }] }),
  ]
  assert.equal(new Set(changes.map((changed) => podTemplateDump(changed))).size, changes.length)
})

test('absent and empty lists and maps, false and absent flags are the same; the order of keys does not matter', () => {
  const spelled = template('img:1', { volumes: [], nodeSelector: {}, hostNetwork: false })
  assert.ok(sameTemplate(template('img:1'), spelled))
  assert.ok(sameTemplate(spelled, spelled))
  assert.ok(sameTemplate(undefined, undefined))
  assert.equal(podTemplateHash(spelled), podTemplateHash(template('img:1')))
  const labelled = (labels: Record<string, string>): PodTemplateSpec => ({ metadata: { labels } })
  assert.ok(sameTemplate(labelled({ a: '1', b: '2' }), labelled({ b: '2', a: '1' })))
})

test('a creation time of null, as servers write it into templates, is none', () => {
  const plain: PodTemplateSpec = { metadata: { labels: { a: '1' } } }
  const written = { metadata: { labels: { a: '1' }, creationTimestamp: null } } as object
  assert.ok(sameTemplate(plain, written))
  assert.equal(podTemplateHash(written), podTemplateHash(plain))
})

test('images are compared by their place among the containers', () => {
  const of = (...images: readonly (string | undefined)[]): PodTemplateSpec => ({
    spec: { containers: images.map((image, index) => ({ name: `c${index}`, image })) },
  })
  assert.ok(sameTemplate(of('a', 'b'), of('a', 'b')))
  assert.ok(sameTemplate(of('a', undefined), of('a', '')))
  for (const other of [of('b', 'a'), of('a'), of('a', 'b', 'c')])
    assert.ok(!sameTemplate(of('a', 'b'), other))
})

test('a pointer to nothing and one to an empty structure differ', () => {
  assert.ok(!sameTemplate(template('img:1'), template('img:1', { securityContext: undefined })))
})

test('the hash label does not count, another label does', () => {
  const labelled = (labels: Record<string, string>): PodTemplateSpec => ({
    ...template('img:1'),
    metadata: { labels },
  })
  assert.ok(sameTemplate(template('img:1'), labelled({ app: 'a', 'pod-template-hash': 'x' })))
  assert.ok(!sameTemplate(template('img:1'), labelled({ app: 'a', other: 'x' })))
})

test('quantities count by value', () => {
  const limited = (memory: string): PodTemplateSpec => template('img:1', { overhead: { memory } })
  assert.ok(sameTemplate(limited('1Gi'), limited('1073741824')))
  assert.ok(!sameTemplate(limited('1Gi'), limited('1G')))
})

test('a quantity prints as the parser of Kubernetes holds it', () => {
  const small = (value: string, scale: number, text: string, format: string): string =>
    `{i:(resource.int64Amount){value:(int64)${value} scale:(resource.Scale)${scale}} d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)${text} Format:(resource.Format)${format}}`
  assert.equal(dumpQuantity('0'), small('0', 0, '0', 'DecimalSI'))
  assert.equal(dumpQuantity('250m'), small('250', -3, '250m', 'DecimalSI'))
  assert.equal(dumpQuantity('0.25'), dumpQuantity('250m'))
  assert.equal(dumpQuantity(2), small('2', 0, '2', 'DecimalSI'))
  assert.equal(dumpQuantity('100Mi'), small('104857600', 0, '100Mi', 'BinarySI'))
  assert.equal(dumpQuantity('64Mi'), small('67108864', 0, '', 'BinarySI'))
  assert.match(dumpQuantity('100Ti'), /abs:\(big\.nat\)\[109951162777600\]/)
})

test('a port by name and one by number print as what they are', () => {
  const probed = (port: number | string): PodTemplateSpec =>
    template('img:1', { containers: [{ name: 'c', livenessProbe: { tcpSocket: { port } } }] })
  assert.match(
    podTemplateDump(probed(80)),
    /Port:\(intstr\.IntOrString\)\{Type:\(intstr\.Type\)0 IntVal:\(int32\)80 StrVal:\(string\)\}/,
  )
  assert.match(
    podTemplateDump(probed('http')),
    /\{Type:\(intstr\.Type\)1 IntVal:\(int32\)0 StrVal:\(string\)http\}/,
  )
})
