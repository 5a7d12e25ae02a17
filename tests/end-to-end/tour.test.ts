import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kubectlBinary, startGyro } from './gyro-process.ts'
import type { GyroProcess } from './gyro-process.ts'
import { startCommand } from './running-command.ts'

const NAME = 'nginx-controller-test'
const MANIFEST = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${NAME}
  labels:
    app: nginx
spec:
  replicas: 3
  selector:
    matchLabels:
      app: nginx
  template:
    metadata:
      labels:
        app: nginx
    spec:
      containers:
      - name: nginx
        image: nginx:latest
        ports:
        - containerPort: 80
`

let gyro: GyroProcess
before(async () => {
  gyro = await startGyro()
})
after(() => gyro.stop())

interface PodView {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string }
  readonly spec: {
    readonly containers: readonly { readonly image: string }[]
    readonly nodeName?: string
  }
  readonly status: {
    readonly phase: string
    readonly podIP?: string
    readonly conditions?: readonly { type: string; status: string }[]
  }
}

async function pods(): Promise<readonly PodView[]> {
  const answer = await gyro.request(PODS)
  return answer.body.items as PodView[]
}

const isReady = (pod: PodView): boolean =>
  pod.status.phase === 'Running' &&
  pod.metadata.deletionTimestamp === undefined &&
  pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true

const PODS = '/api/v1/namespaces/default/pods?labelSelector=app%3Dnginx'

/** Until there are exactly so many pods, all ready and none of them leaving. */
function allReady(what: string, withinMs: number, count: number): Promise<readonly PodView[]> {
  return gyro.until(what, withinMs, PODS, (all) =>
    all.length === count && all.every(isReady) ? all : undefined,
  )
}

test('a Deployment of three comes up within two seconds', async () => {
  gyro.apply(MANIFEST)
  const running = await allReady('3/3 Running', 2_000, 3)
  assert.equal(new Set(running.map(({ spec }) => spec.nodeName)).size, 3, 'spread over the nodes')
  for (const { status } of running) assert.match(status.podIP ?? '', /^10\.224\./)
  assert.match(gyro.ok('get', 'deploy', NAME), new RegExp(`${NAME}\\s+3/3\\s+3\\s+3`))
  assert.match(gyro.ok('get', 'pods'), /1\/1\s+Running\s+0/)
})

test('a deleted pod is replaced by one of another name within two seconds', async () => {
  const [victim] = await pods()
  gyro.ok('delete', 'pod', victim!.metadata.name, '--wait=false')
  const healed = await allReady('3/3 Running again', 2_000, 3)
  assert.ok(healed.every(({ metadata }) => metadata.name !== victim!.metadata.name))
})

test('kubectl scale, up and down', async () => {
  gyro.ok('scale', 'deploy', NAME, '--replicas=5')
  await allReady('5 pods', 3_000, 5)
  gyro.ok('scale', 'deploy', NAME, '--replicas=3')
  await allReady('3 pods', 5_000, 3)
})

test('kubectl set image, rollout status, rollout undo', async () => {
  gyro.ok('set', 'image', `deploy/${NAME}`, 'nginx=nginx:1.27')
  assert.match(
    gyro.ok('rollout', 'status', `deploy/${NAME}`, '--timeout=20s'),
    /successfully rolled out/,
  )
  const updated = await allReady('old pods gone', 5_000, 3)
  assert.ok(updated.every(({ spec }) => spec.containers[0]!.image === 'nginx:1.27'))
  assert.match(gyro.ok('rollout', 'history', `deploy/${NAME}`), /1\s+<none>\n2\s+<none>/)
  gyro.ok('rollout', 'undo', `deploy/${NAME}`)
  assert.match(
    gyro.ok('rollout', 'status', `deploy/${NAME}`, '--timeout=20s'),
    /successfully rolled out/,
  )
  const undone = await allReady('old pods gone', 5_000, 3)
  assert.ok(undone.every(({ spec }) => spec.containers[0]!.image === 'nginx:latest'))
})

test('a bad image stalls the rollout without losing availability', async () => {
  gyro.ok('set', 'image', `deploy/${NAME}`, 'nginx=nginx:does-not-exist')
  await gyro.until('ImagePullBackOff', 5_000, PODS, (all) =>
    all.find(
      ({ status }) => status.containerStatuses?.[0]?.state.waiting?.reason === 'ImagePullBackOff',
    ),
  )
  assert.match(gyro.ok('get', 'pods'), /0\/1 +ImagePullBackOff +0 /)
  const { code, stderr } = gyro.kubectl('rollout', 'status', `deploy/${NAME}`, '--timeout=1s')
  assert.notEqual(code, 0, stderr)
  const ready = (await pods()).filter(isReady)
  assert.equal(ready.length, 3)
  assert.ok(ready.every(({ spec }) => spec.containers[0]!.image === 'nginx:latest'))
  assert.match(gyro.ok('get', 'events'), /Failed to pull image "nginx:does-not-exist"/)
  gyro.ok('rollout', 'undo', `deploy/${NAME}`)
  await allReady('3/3 Running', 5_000, 3)
})

test('kubectl get -w streams', async () => {
  const words = ['get', 'pods', '-w', '--output-watch-events']
  const watch = startCommand(kubectlBinary, words, gyro.environment)
  await watch.said(/^EVENT +NAME [^]*(\nADDED +\S+ [^\n]*){3}\n/)
  const [victim] = await pods()
  gyro.ok('delete', 'pod', victim!.metadata.name, '--wait=false')
  await watch.said(new RegExp(`DELETED\\s+${victim!.metadata.name}`))
  watch.child.kill()
  await allReady('3/3 Running', 5_000, 3)
})

test('kubectl describe shows events', () => {
  const deployment = gyro.ok('describe', 'deploy', NAME)
  assert.match(deployment, /ScalingReplicaSet\s.*deployment-controller\s+Scaled up replica set/)
  const pod = gyro.ok('describe', 'pods', '-l', 'app=nginx', '--show-events')
  assert.match(pod, /Scheduled\s.*default-scheduler\s+Successfully assigned default\//)
  assert.match(pod, /Started\s.*kubelet\s+Container started/)
  assert.match(gyro.ok('describe', 'node', 'node-1'), /NodeReady/)
})

test('deleting the Deployment removes its ReplicaSets and Pods', async () => {
  gyro.ok('delete', 'deploy', NAME)
  const none = (all: readonly unknown[]): true | undefined => (all.length === 0 ? true : undefined)
  await gyro.until('no ReplicaSet', 5_000, '/apis/apps/v1/namespaces/default/replicasets', none)
  await gyro.until('no pod', 5_000, PODS, none)
})

test('deleting the namespace finishes', async () => {
  gyro.ok('create', 'namespace', 'tour')
  gyro.apply(MANIFEST.replace('metadata:', 'metadata:\n  namespace: tour'))
  gyro.ok('rollout', 'status', `deploy/${NAME}`, '-n', 'tour', '--timeout=10s')
  gyro.ok('delete', 'namespace', 'tour', '--timeout=30s')
  assert.match(gyro.kubectl('get', 'namespace', 'tour').stderr, /namespaces "tour" not found/)
})

test('Ctrl-C ends the cluster with exit code 0', async () => {
  assert.equal(await gyro.stop('SIGINT'), 0)
})
