/** Manifests under kubectl: folders, kustomizations, pruning by labels and by sets, last-applied, diff. */
import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  begin,
  configMap,
  deployment,
  expectAll,
  fed,
  file,
  finish,
  folder,
  gyro,
  refuseAll,
} from './session.ts'

before(begin)
after(finish)

function manifests(name: string, objects: Readonly<Record<string, object | string>>): string {
  const path = join(folder, name)
  for (const [part, content] of Object.entries(objects)) {
    const target = join(path, part)
    mkdirSync(join(target, '..'), { recursive: true })
    writeFileSync(target, typeof content === 'string' ? content : JSON.stringify(content))
  }
  return path
}

test('folders, with and without the ones below, and standard input', () => {
  const path = manifests('tree', {
    'a.json': configMap('t1', { a: '1' }),
    'deep/b.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: t2}\n---\n# nothing here\n',
    'notes.txt': 'not a manifest',
  })
  expectAll([
    [`apply -f ${path}`, 'configmap/t1 created\n'],
    [`apply -R -f ${path}`, 'configmap/t1 unchanged\nconfigmap/t2 created\n'],
    [`get -R -f ${path} -o name`, 'configmap/t1\nconfigmap/t2\n'],
    [`delete -R -f ${path} --dry-run=server`, /"t2" deleted.*\(server dry run\)\n$/],
    [`delete -R -f ${path}`, /^configmap "t1" deleted.*\nconfigmap "t2" deleted/],
  ])
  assert.equal(
    fed(JSON.stringify(configMap('piped', {})), ['apply', '-f', '-']).stdout,
    'configmap/piped created\n',
  )
  refuseAll([
    [
      `apply -f ${join(folder, 'nosuch.yaml')}`,
      /^error: the path ".*nosuch\.yaml" does not exist\n$/,
    ],
    [
      `apply -f ${file('broken.yaml', 'a: [')}`,
      /^error: error parsing .*: error converting YAML to JSON/,
    ],
    [`apply -f ${file('kindless.yaml', 'a: b')}`, /apiVersion not set, kind not set/],
    [
      `apply -f ${file('strange.yaml', 'apiVersion: a.b/v1\nkind: C\nmetadata: {name: x}')}`,
      /no matches for kind "C" in version "a\.b\/v1"\nensure CRDs are installed first/,
    ],
  ])
})

test('kustomizations: applied, diffed, deleted', () => {
  const path = manifests('kustom', {
    'kustomization.yaml':
      'namePrefix: pre-\nresources: [map.json]\nconfigMapGenerator: [{name: made, literals: [a=b]}]\nlabels: [{pairs: {by: kustomize}}]\n',
    'map.json': configMap('k', { a: 'b' }),
  })
  assert.equal(gyro.kubectl('diff', '-k', path).code, 1)
  expectAll([
    [
      `kustomize ${path}`,
      /kind: ConfigMap\nmetadata:\n {2}labels:\n {4}by: kustomize\n {2}name: pre-k\n/,
    ],
    [`apply -k ${path}`, /^configmap\/pre-k created\nconfigmap\/pre-made-\w+ created\n$/],
    ['get cm -l by=kustomize -o name', /^configmap\/pre-k\nconfigmap\/pre-made-\w+\n$/],
    [`diff -k ${path}`, ''],
    [`delete -k ${path}`, /"pre-k" deleted/],
  ])
})

test('prune: by label from an allowlist, and by a set that remembers its members', () => {
  const path = manifests('set', {
    'a.json': configMap('s1', { a: '1' }),
    'b.json': configMap('s2', { a: '1' }),
    'c.json': deployment('s3', 'nginx:1', 0),
  })
  gyro.ok('create', 'ns', 'sets')
  const use = { KUBECTL_APPLYSET: 'true' }
  const apply = (...more: string[]): string =>
    fed('', ['apply', '-n', 'sets', '-f', path, '--prune', '--applyset=boats', ...more], use).stdout
  assert.equal(apply(), 'configmap/s1 created\nconfigmap/s2 created\ndeployment.apps/s3 created\n')
  const { labels, annotations } = gyro.json('get', 'secret', 'boats', '-n', 'sets').metadata
  assert.match(labels['applyset.kubernetes.io/id'], /^applyset-.{43}-v1$/)
  assert.equal(
    annotations['applyset.kubernetes.io/contains-group-kinds'],
    'ConfigMap,Deployment.apps',
  )
  rmSync(join(path, 'b.json'))
  rmSync(join(path, 'c.json'))
  const pruned = ['configmap/s1 unchanged', 'configmap/s2 pruned', 'deployment.apps/s3 pruned']
  assert.deepEqual(apply('--dry-run=server').split('\n').toSorted(), [
    '',
    ...pruned.map((line) => `${line} (server dry run)`),
  ])
  // The order of what is pruned is by chance.
  assert.deepEqual(apply().split('\n').toSorted(), ['', ...pruned])
  assert.equal(
    gyro.ok(
      'get',
      'cm,deploy',
      '-n',
      'sets',
      '-o',
      'name',
      '--field-selector=metadata.name!=kube-root-ca.crt',
    ),
    'configmap/s1\n',
  )
})

test('last-applied: shown, set, edited', () => {
  const first = file('l.json', configMap('last', { a: '1' }))
  gyro.ok('create', '-f', first)
  const { stderr } = gyro.kubectl('apply', '-f', first)
  assert.match(
    stderr,
    /^Warning: resource configmaps\/last is missing the kubectl\.kubernetes\.io\/last-applied-configuration annotation/,
  )
  expectAll([
    ['apply view-last-applied cm/last', /^apiVersion: v1\ndata:\n {2}a: "1"\nkind: ConfigMap\n/],
    ['apply view-last-applied cm last -o json', /"a": "1"/],
    [
      `apply set-last-applied -f ${file('l2.json', configMap('last', { a: '2' }))}`,
      'configmap/last configured\n',
    ],
    ['apply view-last-applied cm/last', /\n {2}a: "2"\n/],
  ])
  const edited = fed('', ['apply', 'edit-last-applied', 'cm/last'], { EDITOR: 'sed -i s/2/3/' })
  assert.equal(edited.code, 0, edited.stderr)
  assert.match(gyro.ok('apply', 'view-last-applied', 'cm/last'), /\n {2}a: "3"\n/)
  assert.deepEqual(gyro.json('get', 'cm', 'last').data, { a: '1' })
})

test('apply takes out what left the manifest and keeps what others own', () => {
  gyro.apply(configMap('shared', { mine: '1', gone: '1' }))
  gyro.ok('patch', 'cm', 'shared', '--type=merge', '-p', '{"data":{"theirs":"1"}}')
  gyro.apply(configMap('shared', { mine: '2' }))
  assert.deepEqual(gyro.json('get', 'cm', 'shared').data, { mine: '2', theirs: '1' })
})

test('diff of what is new, what is equal, and with a program of the user', () => {
  const made = file('new.json', configMap('fresh', { a: 'b' }))
  const { code, stdout } = gyro.kubectl('diff', '-f', made)
  assert.equal(code, 1)
  assert.match(stdout, /^\+apiVersion: v1\n\+data:\n\+ {2}a: b\n\+kind: ConfigMap\n/m)
  assert.match(
    fed('', ['diff', '-f', made], { KUBECTL_EXTERNAL_DIFF: 'echo' }).stdout,
    /LIVE-\d+ \S*MERGED-\d+\n$/,
  )
  refuseAll([['get cm fresh', /"fresh" not found/]])
})

test('dry runs and client-side output change nothing', () => {
  const path = file('dry.json', configMap('dry', { a: 'b' }))
  expectAll([
    [
      `apply --server-side --dry-run=server -f ${path}`,
      'configmap/dry serverside-applied (server dry run)\n',
    ],
    [
      'create deployment dry --image=nginx --dry-run=client -o yaml',
      /^apiVersion: apps\/v1\nkind: Deployment\n/,
    ],
    [
      'create cm dry --from-literal=a=b --dry-run=server -o jsonpath={.metadata.namespace}',
      'default',
    ],
    ['run dry --image=nginx --dry-run=server -o jsonpath={.spec.dnsPolicy}', 'ClusterFirst'],
    ['get cm,deploy,pod dry --ignore-not-found', ''],
  ])
})
