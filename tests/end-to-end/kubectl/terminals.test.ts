/** What people type into: terminals, prompts, debug containers; and streams that cannot be had. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kubectlBinary } from '../gyro-process.ts'
import type { Running } from '../running-command.ts'
import {
  begin,
  deployment,
  expectAll,
  fetched,
  finish,
  gyro,
  refuseAll,
  start,
  startForward,
} from './session.ts'

before(async () => {
  await begin()
  gyro.apply(deployment('web', 'nginx:1', 1))
  gyro.apply(deployment('broken', 'nginx:broken', 1))
  gyro.ok('expose', 'deploy', 'web', '--port=8080', '--target-port=80')
  gyro.ok('rollout', 'status', 'deploy/web')
})
after(finish)

/** kubectl in a terminal of its own. */
const inTerminal = (line: string): Running =>
  start(['-qec', `${kubectlBinary} ${line}`, '/dev/null'], {}, 'script')

test('exec -it: a prompt, an echo of what is typed, Ctrl-C, the exit code', async () => {
  const shell = inTerminal('exec -it deploy/web -- sh')
  await shell.said(/\/ # $/)
  shell.child.stdin!.write('echo I am $HOSTNAME\r')
  await shell.said(/\r?\nI am web-\w+-\w+\r?\n\/ # $/)
  shell.child.stdin!.write('echo begun; sleep 1000\r')
  await shell.said(/\r?\nbegun\r?\n$/)
  shell.child.stdin!.write('\x03')
  await shell.said(/\^C\r?\n\/ # $/)
  shell.child.stdin!.write('echo code $?\r')
  await shell.said(/\r?\ncode 130\r?\n\/ # $/)
  shell.child.stdin!.write('exit 7\r')
  const { code, stdout } = await shell.ended
  assert.equal(code, 7)
  assert.match(stdout, /command terminated with exit code 7/)
})

test('run -it --rm: a pod for one session', async () => {
  const session = inTerminal('run one --image=busybox -it --rm --restart=Never -- sh')
  await session.said(/\/ # $/)
  session.child.stdin!.write('hostname\r')
  await session.said(/\r?\none\r?\n\/ # $/)
  session.child.stdin!.write('exit\r')
  const { code, stdout } = await session.ended
  assert.equal(code, 0)
  assert.match(stdout, /pod "one" deleted/)
  assert.equal(gyro.ok('get', 'pod', 'one', '--ignore-not-found'), '')
})

test('run -it: a program that asks gets lines as a terminal gives them', async () => {
  const line = 'run asks --image=busybox -it --rm --restart=Never -- sh -c'
  const session = inTerminal(`${line} "read -p 'name? ' n; echo hello \\$n; cat"`)
  await session.said(/name\? $/)
  session.child.stdin!.write('Anx\x7fn\r')
  await session.said(/hello Ann\r?\n$/)
  session.child.stdin!.write('\x04')
  const { code, stdout } = await session.ended
  assert.deepEqual([code, stdout.includes('name? Anx\b \bn\r\n')], [0, true])
})

test('exec -it: a program that reads gets lines, too', async () => {
  const session = inTerminal('exec -it deploy/web -- sh -c "read a; echo got \\$a"')
  session.child.stdin!.write('this\r')
  await session.said(/got this/)
  assert.equal((await session.ended).code, 0)
})

test('Ctrl-C ends what runs in a terminal', async () => {
  const session = inTerminal('exec -it deploy/web -- sh -c "echo begun; sleep 1000"')
  await session.said(/begun/)
  session.child.stdin!.write('\x03')
  assert.equal((await session.ended).code, 130)
})

test('debug: a copy, with other images and a shared process namespace; a pod on a node', () => {
  const [pod] = gyro.ok('get', 'pods', '-l', 'app=web', '-o', 'name').split('\n')
  gyro.ok(
    'debug',
    pod!,
    '--image=busybox',
    '--copy-to=copy',
    '--share-processes',
    '-c',
    'tool',
    '--',
    'sleep',
    '1d',
  )
  expectAll([
    [
      'get pod copy -o jsonpath={.spec.shareProcessNamespace}/{.spec.containers[*].name}',
      'true/c tool',
    ],
    ['wait --for=condition=Ready pod/copy --timeout=10s', 'pod/copy condition met\n'],
  ])
  // A copy without another container keeps its labels: of the Deployment's pod it would be one too many.
  gyro.ok('debug', 'copy', '--copy-to=other', '--set-image=*=busybox')
  expectAll([['get pod other -o jsonpath={.spec.containers[*].image}', 'busybox busybox']])
  const said = gyro.kubectl(
    'debug',
    'node/node-2',
    '--image=busybox',
    '--profile=sysadmin',
    '--',
    'echo',
    'x',
  )
  const name =
    /^Creating debugging pod (node-debugger-node-2-\w+) with container debugger on node node-2\.\n/m.exec(
      said.stdout + said.stderr,
    )?.[1]
  const { spec } = gyro.json('get', 'pod', name!)
  assert.deepEqual(
    [spec.nodeName, spec.hostNetwork, spec.hostPID, spec.containers[0].securityContext.privileged],
    ['node-2', true, true, true],
  )
  refuseAll([
    ['debug pod/nosuch --image=busybox', /pods "nosuch" not found\n$/],
    [
      `debug ${pod} --image=busybox --target=nosuch`,
      /targetContainerName|Targeting container "nosuch"/,
    ],
  ])
})

test('port-forward: to a service by its port, to a deployment by a name, and to what is not there', async () => {
  for (const words of [
    ['svc/web', ':8080'],
    ['deploy/web', ':80'],
    ['rs', ':80'],
  ]) {
    const target =
      words[0] === 'rs' ? gyro.ok('get', 'rs', '-l', 'app=web', '-o', 'name').trim() : words[0]!
    const forward = await startForward([target, words[1]!], {})
    assert.match(
      await fetched(forward.ports[0]!),
      /^simulated pod default\/web-\S+ on node-\d: port 80, GET \/x\n$/,
    )
    forward.stop()
  }
  refuseAll([
    ['port-forward svc/nosuch :80', 'Error from server (NotFound): services "nosuch" not found\n'],
    ['port-forward svc/web :81', /^error: Service web does not have a service port 81\n$/],
    [
      'port-forward deploy/broken :80',
      'error: unable to forward port because pod is not running. Current status=Pending\n',
    ],
    ['port-forward deploy/web 99999:80', /^error: error parsing local port '99999'/],
  ])
})

for (const [protocol, websockets, prefix] of [
  ['WebSocket', 'true', 'Internal error occurred: '],
  ['SPDY', 'false', ''],
] as const) {
  test(`a container that does not run, over ${protocol}`, async () => {
    const use = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: websockets }
    const { code, stderr } = await start(['exec', 'deploy/broken', '--', 'ls'], use).ended
    assert.equal(code, 1)
    assert.equal(
      stderr,
      `error: ${prefix}unable to upgrade connection: container not found ("c")\n`,
    )
  })
}

test('logs and cp of what is not there', () => {
  const pod = gyro.ok('get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[0].metadata.name}')
  refuseAll([
    [
      'logs deploy/broken',
      /^Error from server \(BadRequest\): container "c" in pod "broken-\S+" is waiting to start: (ErrImagePull|ImagePullBackOff|trying and failing to pull image|image can't be pulled)\n$/,
    ],
    [
      'logs nosuch',
      /^(error: error from server|Error from server) \(NotFound\): pods "nosuch" not found/,
    ],
    [
      `logs ${pod} -c nosuch`,
      /^error: container nosuch is not valid for pod web-\S+( out of: c)?\n$/,
    ],
    [
      `logs ${pod} --since=1s --since-time=2030-01-01T00:00:00Z`,
      /^error: at most one of `sinceTime` or `sinceSeconds` may be specified\n$/,
    ],
    [`cp ${pod}:/nosuch /tmp/gyro-nosuch`, 'command terminated with exit code 1\n'],
    [`cp /nosuch ${pod}:/x`, "error: /nosuch doesn't exist in local filesystem\n"],
    ['cp nosuch:/x /tmp/gyro-nosuch', 'Error from server (NotFound): pods "nosuch" not found\n'],
    [
      'cp one two',
      /^error: one of src or dest must be a remote file specification|^error: one of src or dest must be a local file specification/,
    ],
    ['exec nosuch -- ls', 'Error from server (NotFound): pods "nosuch" not found\n'],
    ['attach nosuch', /pods "nosuch" not found\n$/],
  ])
  expectAll([
    [`logs ${pod} --limit-bytes=9`, 'simulated'],
    [`logs ${pod} --since-time=2130-01-01T00:00:00Z`, ''],
    [`logs ${pod} --tail=0`, ''],
    [
      'logs deploy/web --all-pods=true --prefix',
      new RegExp(`^\\[pod/${pod}/c\\] simulated container c of image nginx:1 `),
    ],
  ])
})

test('logs -f: of several pods by label, each line as it comes, no more at once than allowed', async () => {
  gyro.ok('scale', 'deploy', 'web', '--replicas=2')
  gyro.ok('rollout', 'status', 'deploy/web')
  refuseAll([
    [
      'logs -f -l app=web --max-log-requests=1',
      /^error: you are attempting to follow 2 log streams, but maximum allowed concurrency is 1, use --max-log-requests to increase the limit\n$/,
    ],
  ])
  const following = start(['logs', '-f', '-l', 'app=web', '--prefix', '--tail=1'])
  await following.said(/(\[pod\/web-\S+\/c\] .*\n){2}/)
  gyro.ok('scale', 'deploy', 'web', '--replicas=0')
  assert.equal((await following.ended).code, 0)
})
