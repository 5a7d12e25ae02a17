/** Logs, exec, attach, cp, port-forward and debug of kubectl, against simulated containers. Contract: docs/behaviour/api-server/kubectl.md. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { finished, kubectlBinary } from '../gyro-process.ts'
import type { Finished } from '../gyro-process.ts'
import {
  begin,
  configMap,
  deployment,
  expectAll,
  fed,
  fetched,
  finish,
  folder,
  gyro,
  startForward,
} from './session.ts'

before(begin)
after(finish)

describe('streams', () => {
  const behavior = JSON.stringify({
    containers: {
      side: {
        logs: [
          { at: 0, text: 'first' },
          { at: '20ms', text: 'second' },
        ],
        exec: [{ command: 'psql -c', stdout: '1 row\n', stderr: 'note\n', exitCode: 3 }],
      },
      crash: { runs: [{ duration: '50ms', exitCode: 2 }, { duration: 'forever' }] },
    },
  })
  const shared = [{ name: 'shared', mountPath: '/shared' }]
  const PASSWORD = [
    { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'streamed', key: 'password' } } },
  ]
  let webPort = 0
  const web = createServer((request, response) =>
    response.end(`the user's program: ${request.url}`),
  )
  before(async () => {
    gyro.apply(deployment('read'))
    gyro.ok('rollout', 'status', 'deploy/read')
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
    webPort = (web.address() as { port: number }).port
    gyro.apply(configMap('streamed', { 'app.conf': 'color=blue\n' }))
    gyro.ok('create', 'secret', 'generic', 'streamed', '--from-literal=password=hunter2')
    gyro.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'p',
        labels: { app: 'p' },
        annotations: {
          'sim.kubelet/behavior': behavior,
          'sim.kubelet/port-forward': `9000=127.0.0.1:${webPort}`,
        },
      },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: 'c',
            image: 'nginx:1.27',
            ports: [{ containerPort: 80 }],
            env: PASSWORD,
            volumeMounts: [{ name: 'conf', mountPath: '/etc/conf' }, ...shared],
          },
          { name: 'side', image: 'busybox', volumeMounts: shared },
          { name: 'crash', image: 'busybox' },
          { name: 'says', image: 'busybox', command: ['sh', '-c', 'echo started; sleep 3600'] },
        ],
        volumes: [
          { name: 'conf', configMap: { name: 'streamed' } },
          { name: 'shared', emptyDir: {} },
        ],
      },
    })
    gyro.ok(
      'wait',
      '--for=jsonpath={.status.containerStatuses[?(@.name=="crash")].restartCount}=1',
      'pod/p',
      '--timeout=20s',
    )
  })
  after(() => web.close())

  test('logs: of a container, of the one before, last lines, with times, by label, of a workload', () => {
    assert.equal(gyro.ok('logs', 'p', '-c', 'side'), 'first\nsecond\n')
    assert.equal(gyro.ok('logs', 'p', '-c', 'side', '--tail=1'), 'second\n')
    assert.match(
      gyro.ok('logs', 'p', '-c', 'side', '--timestamps'),
      /^\d{4}-\S+Z first\n\d{4}-\S+Z second\n$/,
    )
    assert.equal(gyro.ok('logs', 'p', '-c', 'side', '--since=1h'), 'first\nsecond\n')
    assert.equal(gyro.ok('logs', 'p', '-c', 'says'), 'started\n')
    assert.match(
      gyro.ok('logs', 'p', '-c', 'crash', '--previous'),
      /^simulated container crash of image busybox/,
    )
    assert.match(
      gyro.kubectl('logs', 'p', '-c', 'side', '--previous').stderr,
      /previous terminated container "side" in pod "p" not found/,
    )
    assert.match(
      gyro.ok('logs', '-l', 'app=p', '-c', 'side', '--prefix'),
      /^\[pod\/p\/side\] first\n/,
    )
    assert.equal(gyro.ok('logs', 'p', '--all-containers').split('\n').length, 6)
    assert.match(gyro.ok('logs', 'deploy/read'), /^simulated container c/)
  })

  test('logs -f ends when the container does', () => {
    const annotations = {
      'sim.kubelet/behavior': JSON.stringify({
        containers: {
          '*': {
            runs: [{ duration: '1s' }],
            logs: [
              { at: 0, text: 'a' },
              { at: '500ms', text: 'b' },
            ],
          },
        },
      }),
    }
    const spec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] }
    gyro.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'short', annotations }, spec })
    gyro.ok('wait', '--for=jsonpath={.status.phase}=Running', 'pod/short', '--timeout=10s')
    assert.equal(gyro.ok('logs', '-f', 'short'), 'a\nb\n')
  })

  test('logs of a loop without an end: what it has printed so far, and what it goes on to print', () => {
    const script = 'i=0; while true; do echo "hello $i"; i=$((i+1)); sleep 0.2; done'
    const spec = { containers: [{ name: 'c', image: 'busybox', command: ['sh', '-c', script] }] }
    gyro.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'loop' }, spec })
    gyro.ok('wait', '--for=condition=Ready', 'pod/loop', '--timeout=10s')
    const begun = gyro.ok('logs', 'loop')
    assert.match(begun, /^hello 0\n(hello \d+\n)*$/)
    // Some of these are printed after it has begun to follow.
    const lines = begun.split('\n').length + 20
    const reading = `"$0" logs -f loop | head -n ${lines}`
    const followed = finished('sh', ['-c', reading, kubectlBinary], gyro.environment)
    assert.equal(followed.stdout.split('\n')[lines - 1], `hello ${lines - 1}`)
    gyro.ok('delete', 'pod', 'loop', '--now')
  })

  const sh = (script: string): string => gyro.ok('exec', 'p', '-c', 'c', '--', 'sh', '-c', script)

  for (const [protocol, websockets] of [
    ['WebSocket', 'true'],
    ['SPDY', 'false'],
  ] as const) {
    const use = {
      KUBECTL_REMOTE_COMMAND_WEBSOCKETS: websockets,
      KUBECTL_PORT_FORWARD_WEBSOCKETS: websockets,
    }

    test(`exec over ${protocol}: output, errors, input, exit codes`, () => {
      const exec = (...words: string[]): Finished => fed('typed\n', ['exec', ...words], use)
      assert.equal(exec('p', '-c', 'c', '--', 'echo', 'hi').stdout, 'hi\n')
      assert.equal(exec('p', '-c', 'c', '--', 'false').code, 1)
      const both = exec('p', '-c', 'c', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7')
      assert.deepEqual(both, {
        code: 7,
        stdout: 'out\n',
        stderr: 'err\ncommand terminated with exit code 7\n',
      })
      assert.equal(exec('-i', 'p', '-c', 'c', '--', 'cat').stdout, 'typed\n')
      assert.deepEqual(exec('p', '-c', 'side', '--', 'psql', '-c', 'select 1').code, 3)
    })

    test(`port-forward over ${protocol}`, async () => {
      const forward = await startForward(['-v=4', 'pod/p', ':80', ':9000', ':81'], use)
      const [page, program, nobody] = forward.ports
      assert.match(
        await fetched(page!),
        /^simulated pod default\/p on node-\d: port 80, GET \/x\n$/,
      )
      assert.equal(await fetched(program!), "the user's program: /x")
      await assert.rejects(fetched(nobody!))
      const said = await forward.ended
      assert.match(said, /no container of the simulated pod has this containerPort/)
      // One that is refused its tunnel takes SPDY instead, and says so to nobody.
      assert.equal(said.includes('negotiated protocol: portforward.k8s.io'), websockets === 'true')
    })
  }

  test('exec: files, environment, what is not there', () => {
    assert.equal(sh('cat /etc/conf/app.conf; echo $PASSWORD; hostname'), 'color=blue\nhunter2\np\n')
    assert.equal(sh('cat /var/run/secrets/kubernetes.io/serviceaccount/namespace'), 'default')
    sh('echo kept > /shared/x')
    assert.equal(gyro.ok('exec', 'p', '-c', 'side', '--', 'cat', '/shared/x'), 'kept\n')
    assert.match(gyro.ok('exec', 'deploy/read', '--', 'hostname'), /^read-/)
    assert.match(
      gyro.kubectl('exec', 'p', '-c', 'c', '--', 'vim').stderr,
      /executable file not found in \$PATH/,
    )
    assert.match(
      gyro.kubectl('exec', 'p', '-c', 'zz', '--', 'ls').stderr,
      /container zz is not valid for pod p/,
    )
    assert.match(
      gyro.kubectl('exec', 'p', '-c', 'c', '--as=nobody', '--', 'ls').stderr,
      /\(Forbidden\)/,
    )
  })

  test('cp: files and folders, there and back', () => {
    mkdirSync(join(folder, 'tree', 'sub'), { recursive: true })
    const large = 'x'.repeat(1_500_000)
    writeFileSync(join(folder, 'tree', 'a'), large)
    writeFileSync(join(folder, 'tree', 'sub', 'b'), 'b\n')
    gyro.ok('cp', join(folder, 'tree'), 'p:/tmp/tree', '-c', 'c')
    assert.equal(
      sh('ls /tmp/tree /tmp/tree/sub; cat /tmp/tree/sub/b'),
      '/tmp/tree:\na\nsub\n\n/tmp/tree/sub:\nb\nb\n',
    )
    gyro.ok('cp', 'p:/tmp/tree', join(folder, 'back'), '-c', 'c')
    assert.equal(readFileSync(join(folder, 'back', 'a'), 'utf8'), large)
    assert.equal(readFileSync(join(folder, 'back', 'sub', 'b'), 'utf8'), 'b\n')
  })

  test('run -i, attach and debug: a shell to type into', () => {
    const said = fed('hostname; exit 5\n', [
      'run',
      'typed',
      '--image=busybox',
      '-i',
      '--rm',
      '--restart=Never',
      '-q',
    ])
    assert.deepEqual([said.code, said.stdout.includes('typed\n')], [5, true])
    const echoed = fed('', [
      'run',
      'echoed',
      '--image=busybox',
      '-i',
      '--rm',
      '--restart=Never',
      '-q',
      '--',
      'echo',
      'hello',
    ])
    assert.match(echoed.stdout, /hello\n/)
    gyro.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'waiting' },
      spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox', stdin: true }] },
    })
    gyro.ok('wait', '--for=condition=Ready', 'pod/waiting', '--timeout=10s')
    assert.match(fed('echo attached\n', ['attach', '-i', 'waiting', '-q']).stdout, /attached\n/)
    const debugged = fed('echo from the side\n', [
      'debug',
      'p',
      '-i',
      '--image=busybox',
      '--profile=general',
      '-c',
      'dbg',
      '-q',
    ])
    assert.match(debugged.stdout, /from the side\n/)
    gyro.ok(
      'wait',
      '--for=jsonpath={.status.ephemeralContainerStatuses[0].state.terminated.exitCode}=0',
      'pod/p',
      '--timeout=10s',
    )
  })

  for (const [title, command, typed, printed] of [
    ['cat', ['cat'], 'one\ntwo\n', 'one\ntwo\n'],
    ['read', ['sh', '-c', 'read a; echo got $a'], 'this\n', 'got this\n'],
    [
      'a prompt, and lines until there are no more',
      ['sh', '-c', 'echo -n "? "; while read a; do echo "<$a>"; done; echo end'],
      'one\ntwo\n',
      '? <one>\n<two>\nend\n',
    ],
  ] as const) {
    test(`run -i: what is typed reaches the program, ${title}`, () => {
      const words = ['run', 'reader', '--image=busybox', '-i', '--rm', '--restart=Never', '-q']
      const { code, stdout } = fed(typed, [...words, '--', ...command])
      assert.deepEqual([code, stdout], [0, printed])
    })
  }

  test('attach -i: what is typed is answered, and the program goes on', () => {
    const words = ['run', 'open', '--image=busybox', '-i', '-q', '--leave-stdin-open']
    assert.equal(fed('one\n', [...words, '--', 'cat']).stdout, 'one\n')
    assert.equal(fed('two\n', ['attach', '-i', '-q', 'open']).stdout, 'two\n')
    expectAll([
      ['logs open', 'one\ntwo\n'],
      ['get pod open -o jsonpath={.status.containerStatuses[0].restartCount}', '0'],
    ])
  })

  test('debug -i: what is typed reaches a command beside the pod', () => {
    const words = ['debug', 'p', '-i', '--image=busybox', '--profile=general', '-c', 'reader', '-q']
    const { stdout, stderr } = fed('aside\n', [...words, '--', 'cat'])
    assert.equal(stdout, 'aside\n', stderr)
  })

  test('proxy passes everything through', async () => {
    const proxy = spawn(kubectlBinary, ['proxy', '--port=0'], { env: gyro.environment })
    const { value } = await createInterface({ input: proxy.stdout })[Symbol.asyncIterator]().next()
    const body = await fetched(
      Number(/:(\d+)$/.exec(value as string)![1]),
      '/api/v1/namespaces/default',
    )
    assert.equal(JSON.parse(body).metadata.name, 'default')
    proxy.kill()
  })

  for (const [name, script] of [
    ['said', 'echo begin; sleep 1000'],
    // One whose log is kept.
    ['kept', 'cat /etc/hostname; sleep 1000'],
  ] as const)
    test(`what a command says in the name of the program stands in the log of ${name}`, () => {
      const hook = { exec: { command: ['sh', '-c', 'echo from the hook > /proc/1/fd/1'] } }
      gyro.apply({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: {
          containers: [
            {
              name: 'c',
              image: 'busybox:1',
              command: ['sh', '-c', script],
              lifecycle: { postStart: hook },
            },
          ],
        },
      })
      gyro.ok('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=30s')
      const command = 'echo out >> /proc/1/fd/1; echo own > /dev/stdout'
      assert.equal(gyro.ok('exec', name, '--', 'sh', '-c', command), 'own\n')
      // A hook and the program begin together.
      const lines = gyro.ok('logs', name).trimEnd().split('\n')
      const first = name === 'said' ? 'begin' : name
      assert.deepEqual(lines.slice(0, 2).sort(), [first, 'from the hook'].sort())
      assert.deepEqual(lines.slice(2), ['out'])
    })
})
