import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { DatabaseSync } from 'node:sqlite'
import { finished, repository, startGyro } from './gyro-process.ts'
import type { GyroProcess } from './gyro-process.ts'

const gyroBinary = join(repository, 'bin/gyro')
const managerBinary = join(repository, 'bin/kube-controller-manager')

let folder: string
let gyro: GyroProcess
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bad-input-'))
  gyro = await startGyro(['--components=api-server', `--data-dir=${join(folder, 'locked')}`])
})
after(async () => {
  await gyro.stop()
  rmSync(folder, { recursive: true })
})

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** One line on stderr, this exit code, nothing on stdout. */
function refused(command: string, args: readonly string[], code: number, line: RegExp): void {
  const run = finished(command, args)
  assert.equal(run.stdout, '')
  const lines = run.stderr.trimEnd().split('\n')
  assert.match(lines.at(-1)!, line)
  assert.equal(run.code, code, run.stderr)
  assert.doesNotMatch(run.stderr, /\n\s+at /, 'no stack trace')
  if (command === gyroBinary) assert.equal(lines.length, 1, run.stderr)
}

test('gyro: unknown command and flags, values out of range', () => {
  refused(
    gyroBinary,
    ['start'],
    2,
    /^gyro: unknown command "start": use up, status, down, kubeconfig, node, simulate, why, check, envtest, completion or version, or see gyro --help$/,
  )
  refused(gyroBinary, ['simulat'], 2, /^gyro: unknown command "simulat": did you mean simulate\?$/)
  refused(gyroBinary, ['up', '--nosuch'], 2, /^gyro: unknown flag --nosuch: see gyro up --help$/)
  refused(gyroBinary, ['up', '--prot=1'], 2, /^gyro: unknown flag --prot: did you mean --port\?$/)
  refused(
    gyroBinary,
    ['up', '--data=x'],
    2,
    /^gyro: unknown flag --data: did you mean --data-dir\?$/,
  )
  refused(gyroBinary, ['up', '-x'], 2, /^gyro: unknown flag -x: see gyro up --help$/)
  refused(gyroBinary, ['up', '--port=abc'], 2, /^gyro: --port=abc is not a whole number$/)
  refused(
    gyroBinary,
    ['simulate', '--scenario', 'nosuch'],
    2,
    /^gyro: scenario "nosuch" is neither a part of the name of a built-in one nor a file$/,
  )
  refused(
    gyroBinary,
    ['up', '--port=99999'],
    2,
    /^gyro: --port=99999 is out of range: use 0 to 65535$/,
  )
  refused(gyroBinary, ['up', '--nodes=-1'], 2, /^gyro: --nodes=-1 is out of range/)
  refused(
    gyroBinary,
    ['up', '--components=api-server,kubelet'],
    2,
    /^gyro: --components names "kubelet": use api-server/,
  )
  refused(
    gyroBinary,
    ['up', '--controllers=nosuch'],
    2,
    /^gyro: --controllers: "nosuch" is not in the list of known controllers/,
  )
})

test('gyro: a port in use', async () => {
  const blocker = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => blocker.once('listening', resolve))
  const { port } = blocker.address() as AddressInfo
  const kubeconfig = join(folder, 'not-written')
  const args = ['up', `--port=${port}`, `--kubeconfig=${kubeconfig}`]
  refused(
    gyroBinary,
    args,
    1,
    new RegExp(`^gyro: port ${port} of 127.0.0.1 is in use: choose another --port, or --port 0`),
  )
  blocker.close()
})

test('gyro: a data directory in use by another process, or written by a newer version', () => {
  const locked = ['up', '--port=0', `--data-dir=${join(folder, 'locked')}`]
  refused(gyroBinary, locked, 1, /^gyro: data directory .*locked is in use by another server/)
  const newer = join(folder, 'newer')
  finished('mkdir', ['-p', newer])
  const database = new DatabaseSync(join(newer, 'state.db'))
  database.exec('PRAGMA user_version = 999')
  database.close()
  refused(
    gyroBinary,
    ['up', '--port=0', `--data-dir=${newer}`],
    1,
    /^gyro: data directory .*newer was written by a newer version/,
  )
})

test('gyro: a file where a folder is wanted, and the reverse, are told without codes of the system', () => {
  const text = file('a-text', '')
  const up = (...args: readonly string[]): readonly string[] => ['up', '--port=0', ...args]
  for (const [path, why] of [
    [text, `${text}: it is a file, not a folder`],
    [join(text, 'sub'), `${join(text, 'sub')}: a part of its path is a file, not a folder`],
  ] as const) {
    const told = `cannot use the data directory: ${why}: choose another --data-dir`
    refused(gyroBinary, up(`--data-dir=${path}`), 1, new RegExp(`^gyro: ${told}$`))
    const log = new RegExp(
      `^gyro: cannot write the log: .* not a folder: choose another --data-dir$`,
    )
    refused('env', ['-C', folder, gyroBinary, ...up('-d', `--data-dir=${path}`)], 1, log)
  }
  const blocked = `^gyro: cannot write the kubeconfig: ${folder}: it is a folder, not a file: choose`
  refused(gyroBinary, up(`--kubeconfig=${folder}`), 1, new RegExp(blocked))
  assert.deepEqual(
    readdirSync(dirname(folder)).filter((name) => name.startsWith(`${basename(folder)}.`)),
    [],
    'nothing is left beside it',
  )
})

test('gyro: a kubeconfig that cannot be written, or read when joining', () => {
  const blocked = join(file('a-file', ''), 'kubeconfig')
  refused(
    gyroBinary,
    ['up', '--port=0', `--kubeconfig=${blocked}`],
    1,
    /^gyro: cannot write the kubeconfig: .*--kubeconfig$/,
  )
  const joining = ['up', '--components=scheduler', '--kubeconfig=/no/such/file']
  refused(gyroBinary, joining, 1, /^gyro: stat \/no\/such\/file: no such file or directory$/)
  // Not even the one that kubectl would take.
  const elsewhere = [`KUBECONFIG=${gyro.kubeconfig}`, gyroBinary, 'up', '--components=nodes']
  refused(
    'env',
    elsewhere,
    2,
    /^gyro: --components without api-server joins a cluster that is there: say which with --kubecon/,
  )
})

test('gyro: a reader of its output that leaves does not end the cluster', async () => {
  const watched = await startGyro(['--nodes=1'])
  watched.process.stdout!.destroy()
  watched.ok('create', 'deployment', 'told', '--image=nginx')
  watched.ok('rollout', 'status', 'deploy/told', '--timeout=20s')
  assert.equal(await watched.stop('SIGINT'), 0)
})

test('gyro: credentials that the server does not know, and an authority that is none', () => {
  const kubeconfig = (name: string, change: (text: string) => string): string =>
    file(name, change(readFileSync(gyro.kubeconfig, 'utf8')))
  const unknown = kubeconfig('unknown.yaml', (text) =>
    text.replace(
      /( *)client-certificate-data: .*\n *client-key-data: .*\n *token: .*/,
      '$1token: nobody',
    ),
  )
  for (const args of [
    ['why', 'pod/a', `--kubeconfig=${unknown}`],
    ['node', 'stop', 'a', `--kubeconfig=${unknown}`],
    ['up', '--components=scheduler', `--kubeconfig=${unknown}`],
  ])
    refused(gyroBinary, args, 1, /^gyro: Unauthorized: the server does not know the credentials/)
  const nobody = kubeconfig('nobody.yaml', (text) =>
    text.replace(/server: .*/, 'server: https://127.0.0.1:1'),
  )
  const silent = /connect ECONNREFUSED 127.0.0.1:1: nothing listens there; does the cluster run\?/
  refused(gyroBinary, ['why', 'pod/a', `--kubeconfig=${nobody}`], 1, silent)
  const noAuthority = kubeconfig('no-authority.yaml', (text) =>
    text.replace(/(certificate-authority-data: ).*/, '$1bm90IGEgY2VydA=='),
  )
  const line = /unable to load root certificates: unable to parse bytes as PEM block/
  refused(gyroBinary, ['why', 'pod/a', `--kubeconfig=${noAuthority}`], 1, line)
  refused(managerBinary, [`--kubeconfig=${noAuthority}`, '--secure-port=0'], 1, line)
})

test(
  'a folder that cannot be made is told, where Node would try for ever',
  { skip: !existsSync('/proc/self') },
  () => {
    const assets = ['envtest', '--dir=/proc/none/assets']
    refused(gyroBinary, assets, 1, /: \/proc\/none: no such file or directory/)
    refused(
      managerBinary,
      [`--kubeconfig=${gyro.kubeconfig}`, '--cert-dir=/proc/none/pki'],
      1,
      /no such file or directory, mkdir '\/proc\/none'/,
    )
  },
)

/** Output goes where a shell sends it. Answers the exit code and what was said on the other stream. */
function redirected(command: string, redirection: string): { code: number; said: string } {
  const script = `( ${command} ) ${redirection}`
  const run = spawnSync('bash', ['-o', 'pipefail', '-c', script], { encoding: 'utf8' })
  return { code: run.status ?? -1, said: run.stdout + run.stderr }
}

/** A pipe whose reader has gone before anything is written. */
const GONE = '> >(exec true)'

test('a reader that leaves is no failure of a command, and no reason for a stack trace', () => {
  const manifests = file('refused.yaml', 'apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n')
  for (const [command, code] of [
    [`${gyroBinary} --help`, 0],
    [`${gyroBinary} version`, 0],
    [`${gyroBinary} completion bash`, 0],
    [`${gyroBinary} check ${manifests}`, 1],
    [`${managerBinary} --help`, 0],
  ] as const) {
    const { code: ended, said } = redirected(`sleep 0.3; ${command}`, GONE)
    assert.equal(ended, code, `${command}: ${said}`)
    assert.doesNotMatch(said, /EPIPE|node:/, command)
  }
  assert.equal(redirected(`sleep 0.3; ${gyroBinary} check ${manifests}`, `${GONE} 2>&1`).code, 1)
})

test('a full disk is told in one line', { skip: !existsSync('/dev/full') }, () => {
  for (const command of [`${gyroBinary} --help`, `${managerBinary} --help`]) {
    const { code, said } = redirected(command, '> /dev/full')
    assert.equal(code, 1, said)
    assert.match(said, /^[a-z-]+: cannot write what was asked for: ENOSPC.*\n$/, command)
  }
})

test(
  'a log on a full disk does not end kube-controller-manager',
  { skip: !existsSync('/dev/full') },
  () => {
    const kubeconfig = file(
      'refuses.yaml',
      JSON.stringify({
        clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1' } }],
        contexts: [{ name: 'a', context: { cluster: 'a', user: '' } }],
        'current-context': 'a',
      }),
    )
    const manager = `exec timeout 3 ${managerBinary} --kubeconfig=${kubeconfig} --secure-port=0`
    const { code } = redirected(manager, '2> /dev/full')
    assert.equal(code, 124, 'it ran until it was ended')
  },
)

test('kube-controller-manager: lines of the log that tell of no error may go to standard output', () => {
  for (const [format, isError] of [
    ['text', /^E\d{4} [^\n]*"command failed"[^\n]*\n$/],
    ['json', /^\{[^\n]*"msg":"command failed"[^\n]*\}\n$/],
  ] as const) {
    const flags = [
      '--kubeconfig=/nowhere',
      `--logging-format=${format}`,
      `--log-${format}-split-stream`,
      '--feature-gates=LoggingAlphaOptions=true',
    ]
    const { status, stdout, stderr } = spawnSync(managerBinary, flags, { encoding: 'utf8' })
    assert.equal(status, 1)
    assert.match(stdout, /Starting/)
    assert.doesNotMatch(stdout, /command failed/)
    assert.match(stderr, isError)
  }
})

test('kube-controller-manager: flags, controllers and kubeconfigs', () => {
  refused(managerBinary, ['--nosuch'], 1, /^Error: unknown flag: --nosuch$/)
  refused(
    managerBinary,
    ['--controllers=nosuch'],
    1,
    /"command failed" err="\\"nosuch\\" is not in the list of known controllers"$/,
  )
  refused(
    managerBinary,
    ['stray'],
    1,
    /^Error: "kube-controller-manager" does not take any arguments/,
  )
  refused(
    managerBinary,
    ['--kubeconfig=/no/such/file'],
    1,
    /"command failed" err="stat \/no\/such\/file: no such file or directory"$/,
  )
  const malformed = file('malformed', 'apiVersion: v1\nclusters: [\n')
  refused(
    managerBinary,
    [`--kubeconfig=${malformed}`],
    1,
    /"command failed" err="error loading config file .*malformed/,
  )
  const dangling = file('dangling', 'apiVersion: v1\nkind: Config\ncurrent-context: nope\n')
  refused(
    managerBinary,
    [`--kubeconfig=${dangling}`],
    1,
    /"command failed" err="invalid configuration: .*context was not found for specified context: nope/,
  )
  const noCa = file(
    'no-ca',
    'apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: "https://127.0.0.1:1", certificate-authority: /no/ca}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n',
  )
  refused(
    managerBinary,
    [`--kubeconfig=${noCa}`],
    1,
    /"command failed" err="invalid configuration: unable to read certificate-authority \/no\/ca for c due to/,
  )
})

test('server: an invalid manifest names each refused field, and nothing is stored', async () => {
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'Bad_Name' },
    spec: {
      replicas: -1,
      selector: { matchLabels: { app: 'a' } },
      template: { metadata: { labels: { app: 'b' } }, spec: { containers: [{ name: 'c' }] } },
    },
  }
  const path = '/apis/apps/v1/namespaces/default/deployments'
  const answer = await gyro.request(path, { method: 'POST', body: deployment })
  assert.equal(answer.status, 422)
  assert.equal(answer.body.reason, 'Invalid')
  const fields = answer.body.details.causes.map((cause: { field: string }) => cause.field)
  for (const field of [
    'metadata.name',
    'spec.replicas',
    'spec.template.metadata.labels',
    'spec.template.spec.containers[0].image',
  ]) {
    assert.ok(fields.includes(field), `${field} in ${fields}`)
  }
  assert.deepEqual((await gyro.request(path)).body.items, [])
  const { code, stderr } = gyro.kubectl(
    'apply',
    '-f',
    file('deployment.json', JSON.stringify(deployment)),
  )
  assert.equal(code, 1)
  assert.match(stderr, /spec\.replicas: Invalid value: -1/)
})

test('server: a body that is no JSON, a body of another type, an unknown kind', async () => {
  const path = '/api/v1/namespaces/default/configmaps'
  const broken = await gyro.request(path, { method: 'POST', body: '{"kind": "ConfigMap", ' })
  assert.equal(broken.status, 400)
  assert.equal(broken.body.kind, 'Status')
  assert.equal(broken.body.reason, 'BadRequest')
  const other = await gyro.request(path, {
    method: 'POST',
    body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } },
  })
  assert.equal(other.status, 400)
  const text = await gyro.request(path, {
    method: 'POST',
    body: 'hello',
    contentType: 'text/plain',
  })
  assert.equal(text.status, 415)
  const unknown = await gyro.request('/apis/example.com/v1/namespaces/default/widgets')
  assert.equal(unknown.status, 404)
  const { stderr } = gyro.kubectl('get', 'widgets')
  assert.match(stderr, /the server doesn't have a resource type "widgets"/)
})
