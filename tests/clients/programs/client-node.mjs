// What a person writes with @kubernetes/client-node: an informer, a watch, every kind of patch, commands in a pod, copies, ports
// and logs. Prints a line for each thing that worked.
//
//   node client-node.mjs KUBECONFIG NAMESPACE FOLDER      FOLDER: has node_modules/@kubernetes/client-node
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'

const [kubeconfig, namespace, folder] = process.argv.slice(2)
const entry = createRequire(join(folder, 'index.js')).resolve('@kubernetes/client-node')
const k8s = await import(pathToFileURL(entry).href)

const worked = (what) => console.log(`ok ${what}`)
const config = new k8s.KubeConfig()
config.loadFromFile(kubeconfig)
const core = config.makeApiClient(k8s.CoreV1Api)
const apps = config.makeApiClient(k8s.AppsV1Api)
const objects = k8s.KubernetesObjectApi.makeApiClient(config)
await core.createNamespace({ body: { metadata: { name: namespace } } })

const happened = []
const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/pods`, () =>
  core.listNamespacedPod({ namespace }),
)
const firstEvent = (name, holds) =>
  new Promise((resolve) => {
    informer.on(name, (pod) => void (holds(pod) && resolve(pod)))
  })
for (const event of ['add', 'delete'])
  informer.on(event, ({ metadata }) => happened.push(`${event} ${metadata.name}`))
informer.on('error', (error) => {
  // The client reports its own stop().
  if (error.name !== 'AbortError') throw error
})
const isReady = ({ status }) =>
  status.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True')
const ready = firstEvent('update', isReady)
const gone = firstEvent('delete', () => true)
await informer.start()
const labels = { app: 'web' }
await apps.createNamespacedDeployment({
  namespace,
  body: {
    metadata: { name: 'web' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'web', image: 'nginx', ports: [{ containerPort: 80 }] }] },
      },
    },
  },
})
const pod = (await ready).metadata.name
worked('informer')

class Text extends Writable {
  text = ''
  _write(chunk, _, done) {
    this.text += chunk
    done()
  }
}
const exec = new k8s.Exec(config)
async function run(command, input, terminal = false) {
  const out = new Text()
  const err = new Text()
  if (terminal) Object.assign(out, { columns: 100, rows: 40, getWindowSize: () => [100, 40] })
  const stdin = input === undefined ? null : new PassThrough()
  const status = await new Promise((resolve, reject) => {
    exec
      .exec(namespace, pod, 'web', command, out, terminal ? null : err, stdin, terminal, resolve)
      .then(() => stdin?.end(input), reject)
  })
  return { out: out.text, err: err.text, status }
}
assert.deepEqual((await run(['sh', '-c', 'echo out; echo err >&2'])).out, 'out\n')
assert.equal((await run(['sh', '-c', 'echo err >&2'])).err, 'err\n')
const failed = (await run(['sh', '-c', 'exit 3'])).status
assert.deepEqual([failed.status, failed.reason], ['Failure', 'NonZeroExitCode'])
assert.deepEqual(failed.details.causes, [{ reason: 'ExitCode', message: '3' }])
assert.equal((await run(['cat'], 'typed\n')).out, 'typed\n')
assert.match((await run(['sh'], 'echo in a terminal\nexit\n', true)).out, /\r\nin a terminal\r\n/)
worked('exec')

const here = mkdtempSync(join(tmpdir(), 'client-node-'))
for (const name of ['there', 'back']) mkdirSync(join(here, name))
writeFileSync(join(here, 'there', 'file'), 'x'.repeat(300_000))
const copies = new k8s.Cp(config)
/** The client tells nobody when it is done. */
async function until(check) {
  for (;;) {
    if (await check()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
await copies.cpToPod(namespace, pod, 'web', join(here, 'there'), '/tmp')
await until(async () => (await run(['wc', '-c', '/tmp/file'])).out === '300000 /tmp/file\n')
await copies.cpFromPod(namespace, pod, 'web', 'file', join(here, 'back'), '/tmp')
await until(() => {
  try {
    return readFileSync(join(here, 'back', 'file')).length === 300_000
  } catch {
    return false
  }
})
worked('cp')

const forward = new k8s.PortForward(config)
const local = createServer((socket) => {
  void forward.portForward(namespace, pod, [80], socket, null, socket)
}).listen(0, '127.0.0.1')
await once(local, 'listening')
const page = await (await fetch(`http://127.0.0.1:${local.address().port}/`)).text()
assert.match(page, new RegExp(`simulated pod ${namespace}/${pod} .*: port 80, GET /`))
local.close()
worked('port-forward')

const followed = new PassThrough()
await new k8s.Log(config).log(namespace, pod, 'web', followed, { follow: true, timestamps: true })
assert.match(String((await once(followed, 'data'))[0]), /^\d{4}-.*Z simulated container web/)
const ended = once(followed, 'end')
followed.resume()
worked('log, followed')

const attached = new Text()
const attachment = await new k8s.Attach(config).attach(
  namespace,
  pod,
  'web',
  attached,
  null,
  null,
  false,
)
attachment.close()
worked('attach')

const map = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'patched', namespace },
}
const patch = (data, strategy, manager = 'me', force) =>
  objects.patch({ ...map, data }, undefined, undefined, manager, force, strategy)
const applied = await patch({ a: '1' }, k8s.PatchStrategy.ServerSideApply)
assert.deepEqual(
  applied.metadata.managedFields.map(({ manager, operation }) => [manager, operation]),
  [['me', 'Apply']],
)
await patch({ b: '2' }, k8s.PatchStrategy.MergePatch)
await patch({ c: '3' }, k8s.PatchStrategy.StrategicMergePatch)
const asJson = k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.JsonPatch)
const removal = [{ op: 'remove', path: '/data/c' }]
const { data } = await core.patchNamespacedConfigMap(
  { name: 'patched', namespace, body: removal },
  asJson,
)
assert.deepEqual(data, { a: '1', b: '2' })
const conflict = await patch({ a: '9' }, k8s.PatchStrategy.ServerSideApply, 'other', false).catch(
  (error) => error,
)
assert.equal(conflict.code, 409)
assert.match(conflict.body, /Apply failed with 1 conflict: conflict with \\"me\\": .data.a/)
worked('patches')

const { metadata } = await core.listNamespacedConfigMap({ namespace })
const seen = await new Promise((resolve, reject) => {
  const events = []
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const from = { resourceVersion: metadata.resourceVersion }
  new k8s.Watch(config)
    .watch(
      path,
      from,
      (type, { metadata: { name } }) => {
        events.push(`${type} ${name}`)
        if (events.length === 2) resolve(events)
      },
      reject,
    )
    .then(async () => {
      await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'w' } } })
      await core.deleteNamespacedConfigMap({ namespace, name: 'w' })
    }, reject)
})
assert.deepEqual(seen, ['ADDED w', 'DELETED w'])
worked('watch from a version')

const metrics = new k8s.Metrics(config)
assert.ok((await metrics.getNodeMetrics()).items.length > 0)
assert.ok((await k8s.topNodes(core)).length > 0)
worked('top')

await apps.deleteNamespacedDeployment({ namespace, name: 'web', propagationPolicy: 'Foreground' })
await gone
await ended
assert.deepEqual(happened, [`add ${pod}`, `delete ${pod}`])
await informer.stop()
await core.deleteNamespace({ name: namespace })
worked('deletion in the foreground')
process.exit(0)
