/** Commands of kubectl that mark and empty nodes. Contract: docs/behaviour/api-server/kubectl.md. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { finished, repository } from '../gyro-process.ts'
import { begin, deployment, expectAll, finish, gyro, refuseAll, start } from './session.ts'

before(begin)
after(finish)

test('drain says which budget forbids it, tries again, and gives up in time', async () => {
  gyro.apply(deployment('kept', 'nginx:1', 1))
  gyro.ok('create', 'pdb', 'kept', '--selector=app=kept', '--min-available=100%')
  gyro.ok('rollout', 'status', 'deploy/kept')
  const [pod] = gyro.json('get', 'pods', '-l', 'app=kept').items
  const { nodeName } = pod.spec
  const drain = ['drain', nodeName, '--pod-selector=app=kept']
  const patient = start(drain)
  const hasty = start([...drain, '--timeout=1s'])
  const refused =
    /error when evicting pods?\/"kept-\S+" -n "default" \(will retry after 5s\): Cannot evict pod as it would violate the pod's disruption budget\./
  await Promise.all([patient.said(refused), hasty.said(refused)])
  gyro.ok('delete', 'pdb', 'kept')
  const { code, stderr } = await hasty.ended
  assert.equal(code, 1)
  assert.match(stderr, /global timeout reached: 1s/)
  const drained = await patient.ended
  assert.equal(drained.code, 0, drained.stderr)
  assert.match(drained.stdout, /^pod\/kept-\S+ evicted\nnode\/node-\d drained\n$/m)
  gyro.ok('uncordon', nodeName)
  gyro.ok('delete', 'deploy', 'kept', '--cascade=foreground')
})

test('taint, cordon, drain, uncordon', () => {
  assert.equal(gyro.ok('taint', 'node', 'node-1', 'k=v:NoSchedule'), 'node/node-1 tainted\n')
  assert.deepEqual(gyro.json('get', 'node', 'node-1').spec.taints, [
    { key: 'k', value: 'v', effect: 'NoSchedule' },
  ])
  gyro.ok('taint', 'node', 'node-1', 'k-')
  gyro.apply(deployment('drained', 'nginx:1', 3))
  gyro.ok('rollout', 'status', 'deploy/drained')
  const cordoned = gyro.kubectl('cordon', 'node-1')
  assert.deepEqual([cordoned.stdout, cordoned.stderr], ['node/node-1 cordoned\n', ''])
  assert.equal(gyro.ok('cordon', 'node-1'), 'node/node-1 already cordoned\n')
  assert.match(
    gyro.ok('drain', 'node-1', '--ignore-daemonsets', '--force', '--delete-emptydir-data'),
    /node\/node-1 drained/,
  )
  const there = gyro.json('get', 'pods', '-A', '--field-selector', 'spec.nodeName=node-1').items
  assert.deepEqual(
    there.filter(({ status }: { status: { phase: string } }) => status.phase === 'Running'),
    [],
  )
  assert.equal(gyro.ok('uncordon', 'node-1'), 'node/node-1 uncordoned\n')
  assert.equal(gyro.json('get', 'node', 'node-1').spec.unschedulable, undefined)
})

test('drain refuses pods that nobody would make again, until it is told to', () => {
  const agent = { labels: { d: 'agent' } }
  gyro.apply({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent' },
    spec: {
      selector: { matchLabels: agent.labels },
      template: {
        metadata: agent,
        spec: {
          nodeSelector: { 'kubernetes.io/hostname': 'node-2' },
          containers: [{ name: 'c', image: 'i' }],
        },
      },
    },
  })
  const { uid } = gyro.json('get', 'ds', 'agent').metadata
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid, controller: true }
  const pod = (name: string, metadata: object, spec: object): object => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: {
      nodeName: 'node-2',
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'c', image: 'i' }],
      ...spec,
    },
  })
  gyro.apply(pod('owned', { ...agent, ownerReferences: [owner] }, {}))
  gyro.apply(pod('bare', {}, {}))
  gyro.apply(pod('scratch', {}, { volumes: [{ name: 'v', emptyDir: {} }] }))
  const local =
    /cannot delete Pods with local storage \(use --delete-emptydir-data to override\): default\/scratch/
  refuseAll([
    ['drain node-2', local],
    [
      'drain node-2',
      /cannot delete DaemonSet-managed Pods \(use --ignore-daemonsets to ignore\): default\//,
    ],
    [
      'drain node-2 --ignore-daemonsets',
      /cannot delete Pods that declare no controller \(use --force to override\): default\/bare/,
    ],
    ['drain node-2 --ignore-daemonsets --force', local],
    ['drain nosuch', /^Error from server \(NotFound\): nodes "nosuch" not found\n$/],
  ])
  const all = '--ignore-daemonsets --force --delete-emptydir-data'
  expectAll([
    [
      `drain node-2 ${all} --dry-run=server`,
      /^node\/node-2 already cordoned \(server dry run\)\n[^]*evicting pod default\/bare \(server dry run\)\n[^]*node\/node-2 drained \(server dry run\)\n$/,
    ],
    ['get pod bare scratch -o name', 'pod/bare\npod/scratch\n'],
    [
      `drain -l kubernetes.io/hostname=node-2 ${all} --disable-eviction`,
      /^node\/node-2 already cordoned\n[^]*pod\/bare deleted[^]*\nnode\/node-2 drained\n$/,
    ],
    ['get pod bare scratch --ignore-not-found', ''],
    ['uncordon node-2', 'node/node-2 uncordoned\n'],
    ['uncordon node-2', 'node/node-2 already uncordoned\n'],
  ])
})

test('taints: several, overwritten, refused, removed', () => {
  expectAll([
    ['taint node node-3 k=v:NoSchedule', 'node/node-3 tainted\n'],
    ['taint node node-3 k=w:NoSchedule --overwrite', 'node/node-3 modified\n'],
    ['taint node node-3 k=v:NoExecute', 'node/node-3 tainted\n'],
    ['taint node node-3 k:NoSchedule-', 'node/node-3 untainted\n'],
    ['get node node-3 -o jsonpath={.spec.taints[*].effect}', 'NoExecute'],
    ['taint node node-3 k-', 'node/node-3 untainted\n'],
    ['taint nodes --all a:PreferNoSchedule', /^(node\/node-\d tainted\n){3}$/],
    ['taint nodes -l kubernetes.io/os=linux a-', /^(node\/node-\d untainted\n){3}$/],
  ])
  gyro.ok('taint', 'node', 'node-3', 'k=v:NoSchedule')
  refuseAll([
    [
      'taint node node-3 k=w:NoSchedule',
      /^error: node node-3 already has k taint\(s\) with same effect\(s\) and --overwrite is false\n$/,
    ],
    ['taint node node-3 nosuch-', /^error: taint "nosuch" not found\n$/],
    [
      'taint node node-3 k=v:Wrong',
      /^error: invalid taint effect: Wrong, unsupported taint effect\n/,
    ],
  ])
  gyro.ok('taint', 'node', 'node-3', 'k-')
})

test('a pod that fits nowhere says why, and is placed once it does', () => {
  gyro.ok('taint', 'node', 'node-3', 'k=v:NoSchedule')
  gyro.ok('cordon', 'node-1', 'node-2')
  gyro.ok('run', 'nowhere', '--image=nginx')
  gyro.ok('wait', '--for=condition=PodScheduled=False', 'pod/nowhere', '--timeout=10s')
  assert.match(
    gyro.ok('describe', 'pod', 'nowhere'),
    /Warning +FailedScheduling .*0\/3 nodes are available: 1 node\(s\) had untolerated taint\(s\), 2 node\(s\) were unschedulable\./,
  )
  const told = gyro.ok('get', 'events', '-o', 'wide', '--field-selector=reason=FailedScheduling')
  assert.match(told, / default-scheduler, default-scheduler-gyro +0\/3 nodes are available/)
  gyro.ok('taint', 'node', 'node-3', 'k-')
  gyro.ok('wait', '--for=condition=Ready', 'pod/nowhere', '--timeout=10s')
  assert.equal(gyro.ok('get', 'pod', 'nowhere', '-o', 'jsonpath={.spec.nodeName}'), 'node-3')
  gyro.ok('uncordon', 'node-1', 'node-2')
})

test('each node has its pod range, and kubectl shows the addresses of its pods out of it', () => {
  const ranges: readonly string[] = gyro
    .json('get', 'nodes')
    .items.map(({ spec }: { spec: { podCIDR: string } }) => spec.podCIDR)
  assert.deepEqual(ranges.toSorted(), ['10.224.0.0/24', '10.224.1.0/24', '10.224.2.0/24'])
  gyro.apply(deployment('spread', 'nginx:1', 3))
  gyro.ok('rollout', 'status', 'deploy/spread')
  const described = gyro.ok('describe', 'node', 'node-1')
  assert.match(described, /^PodCIDR: +10\.224\.\d\.0\/24\nPodCIDRs: +10\.224\.\d\.0\/24$/m)
  for (const { spec, status } of gyro.json('get', 'pods', '-l', 'app=spread').items) {
    const { podCIDR } = gyro.json('get', 'node', spec.nodeName).spec
    assert.equal(status.podIP.replace(/\d+$/, '0/24'), podCIDR)
  }
  gyro.ok('delete', 'deploy', 'spread', '--cascade=foreground')
})

test('a machine that is turned off does not answer, and when it is on again its pods start anew', async () => {
  const node = (...words: readonly string[]) =>
    finished(join(repository, 'bin/gyro'), ['node', ...words, `--kubeconfig=${gyro.kubeconfig}`])
  gyro.apply(deployment('held', 'nginx:1', 1))
  gyro.ok('rollout', 'status', 'deploy/held')
  const [{ metadata, spec }] = gyro.json('get', 'pods', '-l', 'app=held').items
  const stopped = node('stop', spec.nodeName)
  assert.deepEqual([stopped.code, stopped.stdout], [0, `node/${spec.nodeName} stopped\n`])
  const logs = gyro.kubectl('logs', metadata.name)
  assert.match(logs.stderr, /connection refused/)
  assert.equal(node('start', spec.nodeName).stdout, `node/${spec.nodeName} started\n`)
  await gyro.until('it was started again', 20_000, '/api/v1/namespaces/default/pods', (pods) => {
    const found = pods.find(({ metadata: { name } }) => name === metadata.name)
    const [status] = found?.status.containerStatuses ?? []
    return status?.restartCount === 1 && status.ready ? true : undefined
  })
  assert.match(gyro.ok('get', 'events'), /Warning +Rebooted +node\/node-\d/)
  const unknown = node('stop', 'nobody')
  assert.deepEqual(
    [unknown.code, unknown.stderr],
    [1, 'gyro: there is no node nobody: see kubectl get nodes\n'],
  )
  gyro.ok('delete', 'deploy', 'held', '--cascade=foreground')
})
