/** Commands of kubectl that write. Contract: docs/behaviour/api-server/kubectl.md. */
import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { after, before, test } from 'node:test'
import {
  begin,
  configMap,
  deployment,
  expectAll,
  fed,
  file,
  finish,
  gyro,
  refuseAll,
} from './session.ts'

before(begin)
after(finish)

test('apply: created, unchanged, configured; diff says what would change', () => {
  const first = file('a1.json', deployment('applied'))
  const second = file('a2.json', deployment('applied', 'nginx:1.28'))
  assert.equal(gyro.ok('apply', '-f', first), 'deployment.apps/applied created\n')
  assert.equal(gyro.ok('apply', '-f', first), 'deployment.apps/applied unchanged\n')
  for (const more of [[], ['--server-side']]) {
    const { code, stdout } = gyro.kubectl('diff', ...more, '-f', second)
    assert.equal(code, 1)
    assert.match(stdout, /-\s+- image: nginx:1\.27\n\+\s+- image: nginx:1\.28/)
  }
  assert.equal(
    gyro.ok('apply', '-f', second, '--dry-run=server'),
    'deployment.apps/applied configured (server dry run)\n',
  )
  assert.equal(gyro.ok('apply', '-f', second), 'deployment.apps/applied configured\n')
  const { metadata, spec } = gyro.json('get', 'deploy', 'applied')
  assert.deepEqual([metadata.generation, spec.template.spec.containers[0].image], [2, 'nginx:1.28'])
  assert.equal(gyro.kubectl('diff', '-f', second).code, 0)
})

test('apply --server-side: takes over from client-side apply, conflicts, forced', () => {
  const own = file('s1.json', configMap('sided', { a: '1', b: '1' }))
  gyro.ok('apply', '-f', own)
  assert.equal(gyro.ok('apply', '--server-side', '-f', own), 'configmap/sided serverside-applied\n')
  const managers = gyro
    .json('get', 'cm', 'sided', '--show-managed-fields')
    .metadata.managedFields.map(
      (entry: { manager: string; operation: string }) => `${entry.manager} ${entry.operation}`,
    )
  assert.deepEqual(managers.sort(), ['kubectl Apply', 'kubectl-last-applied Apply'])
  gyro.ok('apply', '--server-side', '-f', file('s2.json', configMap('sided', { a: '1' })))
  assert.deepEqual(gyro.json('get', 'cm', 'sided').data, { a: '1' })
  gyro.ok('patch', 'cm', 'sided', '--type=merge', '-p', '{"data":{"a":"other"}}')
  const refused = gyro.kubectl('apply', '--server-side', '-f', own)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /conflict with "kubectl-patch".*: \.data\.a/)
  gyro.ok('apply', '--server-side', '--force-conflicts', '-f', own)
  assert.deepEqual(gyro.json('get', 'cm', 'sided').data, { a: '1', b: '1' })
})

test('apply of a list; --prune removes what is not in the manifest any more', () => {
  const labels = { pruned: 'x' }
  const one = configMap('p1', { a: 'b' }, labels)
  const items = [one, configMap('p2', { a: 'b' }, labels)]
  gyro.apply({ apiVersion: 'v1', kind: 'List', items })
  const unknown = { apiVersion: 'v1', kind: 'List', items: [{ ...one, dta: {} }] }
  const refused = gyro.kubectl('apply', '-f', file('unknown.json', unknown))
  assert.match(refused.stderr, /unknown field "dta" in io\.k8s\.api\.core\.v1\.ConfigMap/)
  const said = gyro.ok(
    'apply',
    '-f',
    file('p1.json', one),
    '--prune',
    '-l',
    'pruned=x',
    '--prune-allowlist=core/v1/ConfigMap',
  )
  assert.equal(said, 'configmap/p1 unchanged\nconfigmap/p2 pruned\n')
})

test('patch of every type, edit, replace', () => {
  gyro.apply(configMap('changed', { k: 'v' }))
  gyro.ok('patch', 'cm', 'changed', '-p', '{"data":{"s":"1"}}')
  gyro.ok('patch', 'cm', 'changed', '--type=merge', '-p', '{"data":{"m":"1","s":null}}')
  gyro.ok(
    'patch',
    'cm',
    'changed',
    '--type=json',
    '-p',
    '[{"op":"add","path":"/data/j","value":"1"}]',
  )
  assert.deepEqual(gyro.json('get', 'cm', 'changed').data, { k: 'v', m: '1', j: '1' })
  const editor = file('editor.sh', '#!/bin/sh\nsed -i "s/k: v$/k: edited/" "$1"\n')
  chmodSync(editor, 0o755)
  assert.match(
    fed('', ['edit', 'cm', 'changed'], { EDITOR: editor }).stdout,
    /configmap\/changed edited/,
  )
  assert.equal(gyro.json('get', 'cm', 'changed').data.k, 'edited')
  assert.match(
    fed('', ['edit', 'cm', 'changed'], { EDITOR: 'true' }).stderr,
    /Edit cancelled, no changes made/,
  )
  const replacement = file('r.json', configMap('changed', { r: '1' }))
  assert.equal(gyro.ok('replace', '-f', replacement), 'configmap/changed replaced\n')
  assert.deepEqual(gyro.json('get', 'cm', 'changed').data, { r: '1' })
  const { uid } = gyro.json('get', 'cm', 'changed').metadata
  gyro.ok('replace', '--force', '-f', replacement)
  assert.notEqual(gyro.json('get', 'cm', 'changed').metadata.uid, uid)
})

test('label, annotate, set', () => {
  gyro.apply(deployment('marked', 'nginx:1', 0))
  assert.match(gyro.ok('label', 'deploy', 'marked', 'x=y'), / labeled/)
  assert.match(gyro.ok('label', 'deploy', 'marked', 'x=y'), / not labeled/)
  assert.match(gyro.kubectl('label', 'deploy', 'marked', 'x=z').stderr, /already has a value \(y\)/)
  const stale = gyro.kubectl(
    'label',
    'deploy',
    'marked',
    'x=z',
    '--overwrite',
    '--resource-version=1',
  )
  assert.match(stale.stderr, /\(Conflict\)/)
  gyro.ok('label', 'deploy', 'marked', 'x-')
  gyro.ok('annotate', 'deploy', 'marked', 'note=hello')
  gyro.ok('set', 'image', 'deploy/marked', 'c=nginx:2')
  gyro.ok('set', 'env', 'deploy/marked', 'A=b')
  gyro.ok('set', 'resources', 'deploy/marked', '--limits=cpu=200m')
  gyro.ok('set', 'serviceaccount', 'deploy/marked', 'default')
  const { metadata, spec } = gyro.json('get', 'deploy', 'marked')
  const [container] = spec.template.spec.containers
  assert.equal(metadata.labels.x, undefined)
  assert.equal(metadata.annotations.note, 'hello')
  assert.deepEqual(
    [container.image, container.env, container.resources.limits],
    ['nginx:2', [{ name: 'A', value: 'b' }], { cpu: '200m' }],
  )
})

test('delete: waits, cascades, selects, forces', () => {
  gyro.apply(deployment('gone'))
  gyro.ok('rollout', 'status', 'deploy/gone')
  // From 1.34 on it adds `from default namespace`.
  assert.match(
    gyro.ok('delete', 'deploy', 'gone', '--cascade=foreground'),
    /^deployment\.apps "gone" deleted( from default namespace)?\n$/,
  )
  assert.equal(gyro.ok('get', 'rs,pods', '-l', 'app=gone', '-o', 'name'), '')
  gyro.apply(deployment('left'))
  gyro.ok('rollout', 'status', 'deploy/left')
  gyro.ok('delete', 'deploy', 'left', '--cascade=orphan')
  assert.match(
    gyro.ok('get', 'rs', '-l', 'app=left', '-o', 'name'),
    /^replicaset.apps\/left-\w+\n$/,
  )
  gyro.ok('delete', 'rs', '-l', 'app=left', '--cascade=orphan')
  const { stdout, stderr } = gyro.kubectl(
    'delete',
    'pods',
    '-l',
    'app=left',
    '--force',
    '--grace-period=0',
  )
  assert.match(stderr, /Warning: Immediate deletion/)
  assert.equal(stdout.match(/force deleted/g)?.length, 2)
  gyro.ok('create', 'ns', 'emptied')
  for (const name of ['a', 'b']) gyro.ok('create', 'cm', name, '-n', 'emptied')
  assert.match(
    gyro.ok('delete', 'cm', '--all', '-n', 'emptied', '--dry-run=server'),
    /"a" deleted.* \(server dry run\)/,
  )
  gyro.ok('delete', 'cm', 'a', 'b', '-n', 'emptied')
  assert.match(gyro.ok('delete', 'ns', 'emptied'), /namespace "emptied" deleted/)
  assert.equal(gyro.ok('delete', 'cm', 'a', '--ignore-not-found'), '')
  gyro.ok('run', 'brief', '--image=busybox')
  gyro.ok('delete', 'pod', 'brief', '--now', '--wait=false')
  gyro.ok('wait', '--for=delete', 'pod/brief', '--timeout=10s')
})

test('subresources: patched, edited and replaced apart from the object', () => {
  gyro.apply(deployment('parts', 'nginx:1', 0))
  gyro.ok('scale', 'deploy', 'parts', '--replicas=0')
  gyro.ok(
    'create',
    '-f',
    file('claim.json', {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'parts' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'none',
        resources: { requests: { storage: '1Gi' } },
      },
    }),
  )
  const claim = gyro.json('get', 'pvc', 'parts')
  const replaced = file('replaced.json', { ...claim, status: { phase: 'Lost' } })
  expectAll([
    [
      'patch pvc parts --subresource=status --type=merge -p {"status":{"phase":"Bound"}}',
      'persistentvolumeclaim/parts patched\n',
    ],
    ['get pvc parts --subresource=status -o jsonpath={.status.phase}', 'Bound'],
    [
      'patch pvc parts --type=merge -p {"status":{"phase":"Lost"}}',
      'persistentvolumeclaim/parts patched (no change)\n',
    ],
    [
      'patch deploy parts --subresource=scale --type=merge -p {"spec":{"replicas":1}}',
      /parts patched\n$/,
    ],
  ])
  refuseAll([
    [
      `replace --subresource=status -f ${replaced}`,
      /the object has been modified; please apply your changes to the latest version/,
    ],
  ])
  const edited = fed('', ['edit', 'pvc', 'parts', '--subresource=status'], {
    EDITOR: 'sed -i s/Bound/Lost/',
  })
  assert.equal(edited.stdout, 'persistentvolumeclaim/parts edited\n', edited.stderr)
  assert.equal(gyro.json('get', 'pvc', 'parts').status.phase, 'Lost')
  refuseAll([
    [
      'patch deploy parts --subresource=nosuch -p {}',
      'Error from server (NotFound): the server could not find the requested resource\n',
    ],
  ])
})

test('patches that do not fit are refused in the words of the server', () => {
  gyro.apply(deployment('fitting', 'nginx:1', 0))
  refuseAll([
    [
      'patch deploy fitting -p {"spec":{"replicas":"x"}}',
      /^The request is invalid: patch: Invalid value: .*unrecognized type: int32\n$/,
    ],
    [
      'patch deploy fitting --type=json -p [{"op":"test","path":"/spec/replicas","value":77}]',
      /^The request is invalid: the server rejected our request due to an error in our request\n$/,
    ],
    [
      'patch deploy fitting -p {"spec":{"selector":{"matchLabels":{"a":"b"}}}}',
      /^The Deployment "fitting" is invalid: ?\n[^]*\* spec\.selector: Invalid value: .*: field is immutable\n$/,
    ],
    [
      'patch deploy nosuch -p {}',
      'Error from server (NotFound): deployments.apps "nosuch" not found\n',
    ],
    ['label deploy fitting k=b*d', /^error: invalid label value: "k=b\*d": a valid label must be/],
  ])
  expectAll([
    ['label deploy --all set=yes --dry-run=server', /fitting labeled \(server dry run\)\n/],
    ['label deploy fitting --list', 'app=fitting\n'],
    ['annotate deploy fitting a=b', 'deployment.apps/fitting annotated\n'],
  ])
  refuseAll([
    [
      'annotate deploy fitting a=c',
      /^error: --overwrite is false but found the following declared annotation\(s\): 'a' already has a value \(b\)\n$/,
    ],
  ])
})
