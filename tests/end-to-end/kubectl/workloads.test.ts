/** Commands of kubectl that size, roll out and wait. Contract: docs/behaviour/api-server/kubectl.md. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  begin,
  deployment,
  expectAll,
  file,
  finish,
  gyro,
  refuseAll,
  rolloutStatus,
  start,
} from './session.ts'

before(begin)
after(finish)

test('scale, autoscale, expose', () => {
  gyro.apply(deployment('sized', 'nginx:1', 1))
  gyro.ok('scale', 'deploy', 'sized', '--replicas=4')
  assert.equal(gyro.json('get', 'deploy', 'sized').spec.replicas, 4)
  const wrong = gyro.kubectl('scale', 'deploy', 'sized', '--current-replicas=3', '--replicas=1')
  assert.equal(wrong.stderr, 'error: Expected replicas to be 3, was 4\n')
  gyro.ok('scale', 'deploy', 'sized', '--current-replicas=4', '--replicas=1')
  gyro.ok(
    'patch',
    'deploy',
    'sized',
    '--subresource=scale',
    '--type=merge',
    '-p',
    '{"spec":{"replicas":2}}',
  )
  assert.equal(gyro.json('get', 'deploy', 'sized').spec.replicas, 2)
  assert.match(
    gyro.ok('autoscale', 'deploy', 'sized', '--min=1', '--max=3', '--cpu-percent=50'),
    / autoscaled/,
  )
  assert.match(gyro.ok('describe', 'hpa', 'sized'), /Max replicas: +3/)
  gyro.ok('expose', 'deploy', 'sized', '--port=80')
  assert.deepEqual(gyro.json('get', 'svc', 'sized').spec.selector, { app: 'sized' })
})

test('rollout: status, history, undo, pause, resume, restart', async () => {
  gyro.apply(deployment('rolled', 'nginx:1'))
  assert.match(gyro.ok('rollout', 'status', 'deploy/rolled'), /successfully rolled out\n$/)
  const updated = await rolloutStatus(
    'deploy/rolled',
    () => {
      gyro.ok('set', 'image', 'deploy/rolled', 'c=nginx:2')
      gyro.ok('annotate', 'deploy', 'rolled', 'kubernetes.io/change-cause=second')
    },
    /Waiting for deployment "rolled" rollout to finish: /,
  )
  assert.match(updated, /successfully rolled out\n$/)
  assert.match(gyro.ok('rollout', 'history', 'deploy/rolled'), /1 +<none>\n2 +second/)
  assert.match(gyro.ok('rollout', 'history', 'deploy/rolled', '--revision=1'), /Image:\s+nginx:1\n/)
  gyro.ok('rollout', 'undo', 'deploy/rolled')
  const { template } = gyro.json('get', 'deploy', 'rolled').spec
  assert.deepEqual(
    [template.spec.containers[0].image, template.metadata.labels],
    ['nginx:1', { app: 'rolled' }],
  )
  gyro.ok('rollout', 'pause', 'deploy/rolled')
  assert.equal(gyro.json('get', 'deploy', 'rolled').spec.paused, true)
  assert.match(
    gyro.kubectl('rollout', 'restart', 'deploy/rolled').stderr,
    /can't restart paused deployment/,
  )
  gyro.ok('rollout', 'resume', 'deploy/rolled')
  gyro.ok('rollout', 'restart', 'deploy/rolled')
  const { annotations } = gyro.json('get', 'deploy', 'rolled').spec.template.metadata
  assert.match(annotations['kubectl.kubernetes.io/restartedAt'], /^\d{4}-/)
  gyro.ok('rollout', 'status', 'deploy/rolled')
})

test('wait: conditions, fields, creation, deletion, time', () => {
  gyro.ok('run', 'awaited', '--image=nginx', '--labels=app=awaited')
  gyro.ok('wait', '--for=create', 'pod/awaited', '--timeout=5s')
  gyro.ok('wait', '--for=condition=Ready', 'pod', '-l', 'app=awaited', '--timeout=10s')
  gyro.ok('wait', '--for=jsonpath={.status.phase}=Running', 'pod/awaited', '--timeout=5s')
  const { code, stderr } = gyro.kubectl(
    'wait',
    '--for=condition=Never',
    'pod/awaited',
    '--timeout=2s',
  )
  assert.deepEqual(
    [code, stderr],
    [1, 'error: timed out waiting for the condition on pods/awaited\n'],
  )
  gyro.ok('delete', 'pod', 'awaited', '--grace-period=1')
})

test('scale: several at once, dry, and what cannot be scaled', () => {
  gyro.apply(deployment('one', 'nginx:1', 0))
  gyro.apply(deployment('two', 'nginx:1', 0))
  expectAll([
    [
      'scale deploy/one deploy/two --replicas=1',
      'deployment.apps/one scaled\ndeployment.apps/two scaled\n',
    ],
    [
      'scale deploy one --replicas=3 --dry-run=server',
      'deployment.apps/one scaled (server dry run)\n',
    ],
    [
      'scale rs -l app=two --replicas=1 --current-replicas=1',
      /^replicaset\.apps\/two-\w+ scaled\n$/,
    ],
    [
      'get deploy one --subresource=scale -o jsonpath={.spec.replicas}/{.status.selector}',
      '1/app=one',
    ],
    [
      `scale -f ${file('two.json', deployment('two'))} --replicas=2 --timeout=10s`,
      'deployment.apps/two scaled\n',
    ],
  ])
  refuseAll([
    [
      'scale deploy nosuch --replicas=1',
      /^(Error from server \(NotFound\):|error: no objects passed to scale) deployments\.apps "nosuch" not found\n$/,
    ],
    [
      'scale svc kubernetes --replicas=1',
      'Error from server (NotFound): the server could not find the requested resource\n',
    ],
    [
      'scale deploy one --replicas=-1',
      /^error: The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0\n/,
    ],
    [
      'autoscale deploy one --min=5 --max=3',
      /^error: --max=MAXPODS must be larger or equal to --min=MINPODS, max: 3, min: 5\n/,
    ],
  ])
})

test('expose: of a pod, of a service, with a type, and what has no ports', () => {
  gyro.ok('run', 'shown', '--image=nginx', '--port=80', '--expose')
  expectAll([
    ['get svc shown -o jsonpath={.spec.selector}{.spec.ports[0].port}', '{"run":"shown"}80'],
    ['expose pod shown --name=again --type=NodePort --target-port=8080', 'service/again exposed\n'],
    [
      'get svc again -o jsonpath={.spec.type}/{.spec.ports[0].port}/{.spec.ports[0].targetPort}',
      'NodePort/80/8080',
    ],
    ['expose svc shown --name=third --port=81', 'service/third exposed\n'],
    ['wait --for=condition=Ready pod/shown --timeout=10s', 'pod/shown condition met\n'],
    [
      'get endpointslices -l kubernetes.io/service-name=shown -o jsonpath={.items[0].ports[0].port}',
      '80',
    ],
  ])
  gyro.ok('create', 'deployment', 'portless', '--image=nginx', '--replicas=0')
  refuseAll([
    ['expose deploy portless', /^error: couldn't find port via --port flag or introspection\n/],
    ['expose pod shown', 'Error from server (AlreadyExists): services "shown" already exists\n'],
  ])
})

test('rollout: to a revision, of one that is not there, twice paused', () => {
  gyro.ok('create', '-f', file('back.json', deployment('back', 'nginx:1', 1)))
  for (const tag of ['2', '3']) {
    gyro.ok('rollout', 'status', 'deploy/back')
    gyro.ok('set', 'image', 'deploy/back', `c=nginx:${tag}`)
  }
  const revision = 'jsonpath={.metadata.annotations.deployment\\.kubernetes\\.io/revision}'
  expectAll([
    ['rollout status deploy/back --timeout=20s', /successfully rolled out\n$/],
    [
      'rollout history deploy back',
      /^deployment\.apps\/back \nREVISION {2}CHANGE-CAUSE\n1 +<none>\n2 +<none>\n3 +<none>\n\n$/,
    ],
    [
      'rollout history deploy back --revision=2 -o jsonpath={.spec.template.spec.containers[0].image}',
      'nginx:2',
    ],
    [
      'rollout undo deploy/back --to-revision=1 --dry-run=server',
      'deployment.apps/back rolled back (server dry run)\n',
    ],
    ['rollout undo deploy/back --to-revision=1', 'deployment.apps/back rolled back\n'],
    ['rollout status deploy/back --timeout=20s', /successfully rolled out\n$/],
    ['rollout history deploy back', /\n2 +<none>\n3 +<none>\n4 +<none>\n/],
    [`get deploy back -o ${revision}`, '4'],
    ['get deploy back -o jsonpath={.spec.template.spec.containers[0].image}', 'nginx:1'],
    [
      'rollout undo deploy/back --to-revision=4',
      'deployment.apps/back skipped rollback (current template already matches revision 4)\n',
    ],
    ['rollout pause deploy/back', 'deployment.apps/back paused\n'],
    ['set image deploy/back c=nginx:9', 'deployment.apps/back image updated\n'],
    [`get deploy back -o ${revision}`, '4'],
  ])
  refuseAll([
    [
      'rollout undo deploy/back --to-revision=99',
      /^error: (unable to find specified revision 99 in history|you cannot rollback a paused deployment)/,
    ],
    ['rollout pause deploy/back', 'error: deployments.apps "back" is already paused\n'],
    [
      'rollout undo deploy/back',
      /^error: you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again\n$/,
    ],
    [
      'rollout status deploy/back --revision=99',
      'error: desired revision (99) is different from the running revision (4)\n',
    ],
    ['rollout history deploy/back --revision=99', 'error: unable to find the specified revision\n'],
    ['rollout history svc/kubernetes', /^error: .*Service/],
  ])
  expectAll([
    ['rollout resume deploy/back', 'deployment.apps/back resumed\n'],
    ['rollout status deploy/back --timeout=20s', /successfully rolled out\n$/],
    ['rollout restart deploy -l app=back', 'deployment.apps/back restarted\n'],
    ['rollout status deploy -l app=back --timeout=20s', /successfully rolled out\n$/],
    [`get deploy back -o ${revision}`, '6'],
  ])
  refuseAll([['rollout resume deploy/back', 'error: deployments.apps "back" is not paused\n']])
})

test('rollout status: a stalled one ends with the deadline, or with its own timeout', () => {
  const stuck = deployment('stuck', 'nginx:broken', 1) as {
    spec: { progressDeadlineSeconds?: number }
  }
  stuck.spec.progressDeadlineSeconds = 1
  gyro.apply(stuck)
  refuseAll([
    [
      'rollout status deploy/stuck --timeout=20s',
      'error: deployment "stuck" exceeded its progress deadline\n',
    ],
  ])
  gyro.apply(deployment('slow', 'nginx:broken', 1))
  refuseAll([
    ['rollout status deploy/slow --timeout=2s', /^error: timed out waiting for the condition\n$/],
  ])
  expectAll([
    [
      'rollout status deploy/slow --watch=false',
      'Waiting for deployment "slow" rollout to finish: 0 of 1 updated replicas are available...\n',
    ],
  ])
})

test('wait: for what comes later, what goes, several, and what is not there', async () => {
  const later = start(['wait', '--for=create', 'pod/later', '--timeout=20s'])
  gyro.ok('run', 'waited', '--image=nginx')
  const ready = start([
    'wait',
    '--for=jsonpath={.status.containerStatuses[0].ready}=true',
    'pod/waited',
    '--timeout=20s',
  ])
  assert.equal((await ready.ended).stdout, 'pod/waited condition met\n')
  const gone = start(['wait', '--for=delete', 'pod/waited', '--timeout=20s', '-v=8'])
  // It has seen the pod and watches for its end.
  await gone.said(/watch=true/)
  gyro.ok('run', 'later', '--image=nginx')
  assert.deepEqual(await later.ended, { code: 0, stdout: 'pod/later condition met\n', stderr: '' })
  gyro.ok('delete', 'pod', 'waited', '--now')
  assert.equal((await gone.ended).code, 0)
  expectAll([
    ['wait --for=condition=Ready pod/later --timeout=10s', 'pod/later condition met\n'],
    ['wait --for=condition=ready=TRUE pod -l run=later --timeout=10s', 'pod/later condition met\n'],
    ['wait --for=jsonpath={.status.podIP} pod/later', 'pod/later condition met\n'],
    ['wait --for=delete pod/nosuch', ''],
  ])
  refuseAll([
    [
      'wait --for=condition=Ready pod/nosuch',
      'Error from server (NotFound): pods "nosuch" not found\n',
    ],
    ['wait --for=condition=Ready pod -l none=none', 'error: no matching resources found\n'],
  ])
  // Its own deadline may end a watch that it is still asking for, which its log tells: of kube-apiserver too (1 of 15 on a busy machine).
  const late = gyro.kubectl('wait', '--for=delete', 'pod/later', '--timeout=2s')
  assert.equal(late.code, 1)
  const [answer, ...log] = late.stderr.trimEnd().split('\n').toReversed()
  assert.equal(answer, 'error: timed out waiting for the condition on pods/later')
  for (const line of log)
    assert.match(
      line,
      /^[EW]\d{4} .* reflector\.go:\d+\] .*(context deadline exceeded|less than a second)/,
    )
})
