/** `gyro why` beside kubectl: each way in which a deletion waits, made as a person would make it. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { finished, repository, startGyro } from './gyro-process.ts'
import type { Finished, GyroProcess } from './gyro-process.ts'

let gyro: GyroProcess
before(async () => {
  gyro = await startGyro()
})
after(() => gyro.stop())

const run = (line: string): Finished =>
  finished(join(repository, 'bin/gyro'), ['why', ...line.split(' ')], gyro.environment)

function why(line: string): string {
  const { code, stdout, stderr } = run(line)
  assert.equal(code, 0, stderr)
  return stdout.replaceAll(/\s+/g, ' ')
}

/** Space is free in the patterns, as lines are wrapped to the terminal. */
function says(line: string, ...patterns: readonly RegExp[]): void {
  const text = why(line)
  for (const pattern of patterns) assert.match(text, pattern)
}

const words = (line: string): string => gyro.ok(...line.split(' '))
const map = (name: string, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
})
const pod = (name: string, metadata: object = {}, spec: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'c', image: 'nginx:1' }], ...spec },
})
const absent = { service: { namespace: 'default', name: 'absent' } }
const anything = {
  openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
}
const definition = (plural: string, kind: string, spec: object): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: { group: 'example.com', scope: 'Namespaced', names: { plural, kind }, ...spec },
})

/** Emptied as far as the controller can: its conditions say so. */
async function afterFirstPass(name: string): Promise<void> {
  await gyro.until('the controller has looked', 60_000, '/api/v1/namespaces', (namespaces) => {
    const namespace = namespaces.find(({ metadata }) => metadata.name === name)
    return namespace?.status.conditions?.length > 0 ? true : undefined
  })
}

test('a namespace held by a finalizer of an object in it, down to who set that', async () => {
  words('create namespace held')
  words('create configmap kept -n held --from-literal=a=b')
  words(
    'patch configmap kept -n held --type=merge -p {"metadata":{"finalizers":["example.com/hold"]}}',
  )
  words('delete namespace held --wait=false')
  await afterFirstPass('held')
  says(
    'ns/held',
    /^namespace\/held is being deleted, since \S+ \(\d+s ago\) held by finalizer kubernetes \(spec.finalizers\)/,
    /left: 1 configmaps /,
    /condition NamespaceFinalizersRemaining: .*example.com\/hold in 1 resource instances/,
    /- configmap\/kept in held is being deleted/,
    /set by kubectl-patch \(Update\), a tool used by hand/,
    /What holds it in the end: configmap\/kept in held: finalizer example.com\/hold $/,
  )
  const answer = JSON.parse(run('ns held --output json').stdout)
  assert.equal(answer.state, 'deleting')
  assert.deepEqual(
    answer.holders.map((holder: { object: { name: string } }) => holder.object.name),
    ['kept'],
  )
  // What it advises works, and then nothing holds any more.
  const [, patch] = /--type=json -p='(.*)'$/.exec(answer.reasons[0].waitsFor[0].reasons[0].release)!
  gyro.ok('patch', 'configmap/kept', '-n', 'held', '--type=json', '-p', patch!)
  words('wait --for=delete namespace/held --timeout=60s')
  const gone = run('ns/held')
  assert.equal(gone.code, 1)
  assert.equal(gone.stderr, 'gyro: there is no namespace/held: it is gone, or never was\n')
})

test('an owner deleted in the foreground waits for a dependent with blockOwnerDeletion', async () => {
  gyro.apply(map('owner'))
  const { uid } = gyro.json('get', 'configmap', 'owner').metadata
  const owner = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'owner',
    uid,
    blockOwnerDeletion: true,
  }
  gyro.apply(map('dependent', { ownerReferences: [owner], finalizers: ['example.com/hold'] }))
  words('delete configmap owner --cascade=foreground --wait=false')
  await gyro.until('both are going', 20_000, '/api/v1/namespaces/default/configmaps', (maps) =>
    maps.filter(({ metadata }) => metadata.deletionTimestamp).length === 2 ? true : undefined,
  )
  says(
    'cm/owner',
    /held by finalizer foregroundDeletion blockOwnerDeletion of 1 configmaps/,
    /removed by the garbage collector of kube-controller-manager/,
    /in the end: configmap\/dependent in default: finalizer example.com\/hold $/,
  )
})

test('a webhook that nobody answers keeps what a namespace would delete', async () => {
  words('create namespace guarded')
  words('create secret generic s -n guarded')
  gyro.apply({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'guard' },
    webhooks: [
      {
        name: 'guard.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: absent,
        rules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['secrets'] },
        ],
      },
    ],
  })
  words('delete namespace guarded --wait=false')
  await afterFirstPass('guarded')
  says(
    'namespace/guarded',
    /condition NamespaceDeletionContentFailure: .*failed calling webhook "guard.example.com"/,
    /- secret\/s in guarded is not being deleted/,
    /failurePolicy Fail, and its service default\/absent does not exist/,
    /in the end: secret\/s in guarded: webhook guard.example.com of ValidatingWebhookConfiguration\/guard $/,
  )
  words('delete validatingwebhookconfiguration guard')
})

test('a kind whose list fails keeps a namespace', async () => {
  const version = (name: string, storage: boolean): object => ({
    name,
    storage,
    served: true,
    schema: anything,
  })
  const conversion = {
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: ['v1'], clientConfig: absent },
  }
  gyro.apply(
    definition('gadgets', 'Gadget', {
      conversion,
      versions: [version('v1', false), version('v1beta1', true)],
    }),
  )
  words('wait --for=condition=Established crd/gadgets.example.com --timeout=20s')
  words('create namespace unreadable')
  const gadget = { apiVersion: 'example.com/v1beta1', kind: 'Gadget', metadata: { name: 'red' } }
  const path = '/apis/example.com/v1beta1/namespaces/unreadable/gadgets'
  assert.equal((await gyro.request(path, { method: 'POST', body: gadget })).status, 201)
  words('delete namespace unreadable --wait=false')
  await afterFirstPass('unreadable')
  says(
    'namespace/unreadable',
    /nothing that can be listed is left in it/,
    /held by gadgets.example.com cannot be listed conversion webhook for .* failed/,
    /or its definition is deleted/,
  )
  const { code, stderr } = run('gadget/red -n unreadable')
  assert.equal(code, 1)
  assert.match(stderr, /^gyro: conversion webhook for .*failed: [^\n]*\n$/)
})

test('a pod that still ends: its kubelet, its grace period, its containers', () => {
  gyro.apply(
    pod(
      'slow',
      { annotations: { 'sim.kubelet/terminate': '300s' } },
      { terminationGracePeriodSeconds: 300 },
    ),
  )
  words('wait --for=condition=Ready pod/slow --timeout=30s')
  words('delete pod slow --wait=false')
  says(
    'pod/slow',
    /held by its grace period of 300s, [45]m\d*s? ?left/,
    /still running: container c removed by the kubelet on node node-\d/,
  )
})

test('a claim that a pod uses, a service with a load balancer, a definition with objects', async () => {
  gyro.apply({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'x',
      resources: { requests: { storage: '1Gi' } },
    },
  })
  const volumes = [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }]
  gyro.apply(pod('user', {}, { nodeName: 'node-1', volumes }))
  words('delete pvc data --wait=false')
  says(
    'pvc/data',
    /finalizer kubernetes.io\/pvc-protection .*kept by 1 pods/,
    /in the end: pod\/user in default: nobody is deleting it $/,
  )
  gyro.apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'public', finalizers: ['service.kubernetes.io/load-balancer-cleanup'] },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  })
  words('delete service public --wait=false')
  says('svc public', /without a cloud-controller-manager nobody does it/)
  gyro.apply(
    definition('widgets', 'Widget', {
      versions: [{ name: 'v1', served: true, storage: true, schema: anything }],
    }),
  )
  words('wait --for=condition=Established crd/widgets.example.com --timeout=20s')
  const metadata = { name: 'blue', finalizers: ['example.com/paint'] }
  gyro.apply({ apiVersion: 'example.com/v1', kind: 'Widget', metadata })
  words('delete crd widgets.example.com --wait=false')
  await gyro.until('the object is going', 20_000, '/apis/example.com/v1/widgets', (widgets) =>
    widgets[0]?.metadata.deletionTimestamp ? true : undefined,
  )
  says(
    'crd/widgets.example.com',
    /kept by 1 widgets.example.com/,
    /in the end: widget.example.com\/blue in default: finalizer example.com\/paint $/,
  )
})

test('what is not being deleted, what nobody knows, what cannot be reached: one line each', () => {
  assert.equal(why('node/node-1'), 'node/node-1 is not being deleted: nobody has asked for it ')
  const refused: readonly (readonly [string, number, RegExp])[] = [
    [
      'deploymnet/web',
      2,
      /^gyro: the server has no kind "deploymnet": did you mean deployment\?\n$/,
    ],
    ['pod', 2, /^gyro: "pod": name one object: [^\n]*\n$/],
    ['pod/nosuch', 1, /^gyro: there is no pod\/nosuch in namespace default: [^\n]*\n$/],
    ['pod/a --context nosuch', 1, /^gyro: context "nosuch" does not exist\n$/],
    ['pod/a --kubeconfig /no/such', 1, /^gyro: stat \/no\/such: no such file or directory\n$/],
  ]
  for (const [line, code, message] of refused) {
    const ended = run(line)
    assert.deepEqual([ended.code, ended.stdout], [code, ''], line)
    assert.match(ended.stderr, message)
  }
})
