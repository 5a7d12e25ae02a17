/** What is warned of in volumes. Recorded from kube-apiserver 1.36.2 (tests/recordings/vectors/warned.json has more). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../../registry/kind-rules.ts'
import { volumeWarnings } from './volume-warnings.ts'

const items = (...paths: string[]): Draft[] => paths.map((path) => ({ key: 'k', path }))
const token = (path: string): Draft => ({ serviceAccountToken: { path } })
const warned = (...volumes: Draft[]): string[] => volumeWarnings({ volumes }, 'spec')
const configMap = (...paths: string[]): string[] =>
  warned({ name: 'v', configMap: { name: 'c', items: items(...paths) } }).map((text) =>
    text.replace('volume "v" (ConfigMap "c"): overlapping paths: ', ''),
  )

test('paths of a volume that are the same or lie in each other are told, each with all before it', () => {
  assert.deepEqual(configMap('x', 'x/y'), ['"x/y" with "x"'])
  assert.deepEqual(configMap('x/', 'x'), ['"x" with "x"'])
  assert.deepEqual(configMap('x', 'xy', './x'), [])
  assert.deepEqual(configMap('z/c', 'a', 'z/b', 'z', 'z/c/e'), [
    '"z" with "z/c"',
    '"z" with "z/b"',
    '"z/c/e" with "z/c"',
    '"z/c/e" with "z"',
  ])
})

test('what nothing serves any more comes first, then the paths of each volume by its name', () => {
  const volumes = [
    { name: 's', secret: { secretName: 'se', items: items('x/y', 'x') } },
    { name: 'd', downwardAPI: { items: items('x', 'x/y') } },
    { name: 'n', configMap: { name: 'c' } },
    { name: 'g', gitRepo: { repository: 'r' } },
  ]
  assert.deepEqual(warned(...volumes), [
    'spec.volumes[3].gitRepo: deprecated in v1.11, and disabled by default in v1.33+',
    'volume "s" (Secret "se"): overlapping paths: "x" with "x/y"',
    'volume "d" (DownwardAPI): overlapping paths: "x/y" with "x"',
  ])
})

test('of a projected volume it is told what writes each path, and which source is none', () => {
  const projected = (...sources: Draft[]): string[] =>
    warned({ name: 'p', projected: { sources } }).map((text) =>
      text.replace('volume "p" (Projected): overlapping paths: ', ''),
    )
  const sources = [
    { configMap: { name: 'c', items: items('x', 'x/y') } },
    { secret: { name: 's', items: items('x/', 'z') } },
    { configMap: { name: 'all' } },
    { downwardAPI: { items: items('z/y', 'w') } },
    token('w/v'),
    {},
    token('x/y/z'),
  ]
  assert.deepEqual(projected(...sources), [
    '"x/y" (ConfigMap "c") with "x" (ConfigMap "c")',
    '"x" (Secret "s") with "x" (ConfigMap "c")',
    '"x" (Secret "s") with "x/y" (ConfigMap "c")',
    '"z/y" (DownwardAPI) with "z" (Secret "s")',
    '"w/v" (ServiceAccountToken) with "w" (DownwardAPI)',
    'volume "p" (Projected) has no sources provided',
    '"x/y/z" (ServiceAccountToken) with "x" (ConfigMap "c")',
    '"x/y/z" (ServiceAccountToken) with "x/y" (ConfigMap "c")',
    '"x/y/z" (ServiceAccountToken) with "x" (Secret "s")',
  ])
  const podCertificate = {
    keyPath: 'k',
    certificateChainPath: 'k/c',
    credentialBundlePath: 'k/c/b',
  }
  const bundles = [{ name: 'n' }, { signerName: 'a.b/s' }].map((bundle) => ({
    clusterTrustBundle: { ...bundle, path: 'k' },
  }))
  assert.deepEqual(projected({ podCertificate }, ...bundles), [
    '"k" (PodCertificate key) with "k/c" (PodCertificate chain)',
    '"k/c/b" (PodCertificate credential bundle) with "k/c" (PodCertificate chain)',
    '"k/c/b" (PodCertificate credential bundle) with "k" (PodCertificate key)',
    ...['n', 'a.b/s'].flatMap((name) =>
      ['chain', 'key', 'credential bundle'].map(
        (part, index) =>
          `"k" (ClusterTrustBundle "${name}") with "${['k/c', 'k', 'k/c/b'][index]}" (PodCertificate ${part})`,
      ),
    ),
    '"k" (ClusterTrustBundle "a.b/s") with "k" (ClusterTrustBundle "n")',
  ])
})

test('a volume with very many paths is not told of for ever', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => `a/${index}`)
  assert.equal(configMap('a', ...many).length, 1_000)
})
