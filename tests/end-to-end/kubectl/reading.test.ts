/** Commands of kubectl that read. Contract: docs/behaviour/api-server/kubectl.md. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  begin,
  cells,
  configMap,
  deployment,
  expectAll,
  file,
  finish,
  folder,
  gyro,
  refuseAll,
  start,
} from './session.ts'

before(begin)
after(finish)

describe('what the server is', () => {
  test('version, cluster-info, api-versions, api-resources', () => {
    assert.match(gyro.json('version').serverVersion.gitVersion, /^v1\.36\./)
    assert.match(gyro.ok('cluster-info'), new RegExp(`is running at .*${gyro.server}`))
    assert.ok(gyro.ok('api-versions').split('\n').includes('apps/v1'))
    const rows = cells(gyro.ok('api-resources', '--no-headers'))
    assert.ok(rows.some((row) => row.join() === 'deployments,deploy,apps/v1,true,Deployment'))
    assert.match(gyro.ok('get', '--raw', '/readyz'), /^ok/)
  })

  test('explain shows group, kind, version and field', () => {
    const text = gyro.ok('explain', 'deploy.spec.replicas')
    assert.match(
      text,
      /GROUP:\s+apps\nKIND:\s+Deployment\nVERSION:\s+v1\n\nFIELD: replicas <integer>/,
    )
    assert.match(
      gyro.ok('explain', 'pod', '--recursive'),
      /\n {2}spec\t<PodSpec>\n[^]*\n {6}image\t<string>/,
    )
  })

  test('config, completion, options, plugin', () => {
    expectAll([
      ['config current-context', 'gyro\n'],
      ['config get-contexts', /\n\* +gyro +gyro +\S+/],
      ['config view -o jsonpath={.clusters[0].cluster.server}', gyro.server],
      ['completion bash', /complete -o/],
      ['options', /--kubeconfig/],
    ])
    assert.match(gyro.kubectl('plugin', 'list').stderr, /plugin/)
    refuseAll([['nosuch', /^error: unknown command "nosuch" for "kubectl"/i]])
  })

  test('api-resources: by group, verb, scope and category', () => {
    expectAll([
      [
        'api-resources --api-group=policy -o wide --no-headers',
        /^poddisruptionbudgets +pdb +policy\/v1 +true +PodDisruptionBudget +create,delete,deletecollection,get,list,patch,update,watch +\n$/,
      ],
      [
        'api-resources --api-group=apps --categories=all -o name',
        'daemonsets.apps\ndeployments.apps\nreplicasets.apps\nstatefulsets.apps\n',
      ],
      [
        'api-resources --namespaced=false --api-group= -o name',
        'componentstatuses\nnamespaces\nnodes\npersistentvolumes\n',
      ],
      [
        'api-resources --verbs=create --api-group=authorization.k8s.io --sort-by=name --no-headers -o name',
        /^localsubjectaccessreviews\.authorization\.k8s\.io\n/,
      ],
    ])
  })

  test('explain: another version, a nested field, what there is not', () => {
    expectAll([
      [
        'explain hpa --api-version=autoscaling/v1',
        /^GROUP: +autoscaling\nKIND: +HorizontalPodAutoscaler\nVERSION: +v1\n/,
      ],
      [
        'explain cj.spec.jobTemplate.spec.template.spec.containers.image',
        /^GROUP: +batch\nKIND: +CronJob\nVERSION: +v1\n\nFIELD: image <string>\n/,
      ],
      ['explain svc.spec.type', /ENUM:\n[^]*ClusterIP|FIELD: type <string>/],
      ['explain deploy --output=plaintext-openapiv2', /^KIND: +Deployment\nVERSION: +apps\/v1\n/],
    ])
    refuseAll([
      ['explain pod.nosuch', /error: field "nosuch" does not exist\n$/],
      ['explain nosuch', /the server doesn't have a resource type "nosuch"\n$/],
    ])
  })

  test('raw requests, health, deprecated kinds', () => {
    expectAll([
      ['get --raw /version', /"gitVersion": "v1\.36\./],
      ['get --raw /healthz', 'ok'],
      ['get --raw /readyz?verbose', /\[\+\]ping ok\n[^]*readyz check passed\n$/],
      ['get --raw /metrics', /^# HELP \w+ .*\n# TYPE \w+ (counter|gauge|histogram)\n/],
      ['get --raw /api/v1/namespaces/default', /^\{.*"kind":"Namespace"/],
      ['get cs', /^NAME +STATUS +MESSAGE +ERROR *\ncontroller-manager +Healthy +ok +\n/],
    ])
    const raw = '/api/v1/namespaces/default/configmaps'
    const map = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'raw' } })
    expectAll([[`create --raw ${raw} -f -`, /"name":"raw"/]], map)
    expectAll([[`replace --raw ${raw}/raw -f -`, /"name":"raw"/]], map)
    expectAll([[`delete --raw ${raw}/raw`, /^\{"kind":"Status".*"status":"Success".*"name":"raw"/]])
    refuseAll([
      [
        'get --raw /nosuch',
        'Error from server (NotFound): the server could not find the requested resource\n',
      ],
    ])
    assert.match(
      gyro.kubectl('get', 'cs').stderr,
      /^Warning: v1 ComponentStatus is deprecated in v1\.19\+\n$/,
    )
    const warned = gyro.kubectl('get', 'endpoints', '--warnings-as-errors')
    assert.equal(warned.code, 1)
    assert.match(
      warned.stderr,
      /^Warning: v1 Endpoints is deprecated in v1\.33\+; use discovery\.k8s\.io\/v1 EndpointSlice\n[^]*1 warning received"?\n$/,
    )
  })
})

describe('reading', () => {
  before(() => {
    gyro.ok('create', '-f', file('read.json', deployment('read')))
    gyro.ok('rollout', 'status', 'deploy/read')
  })

  test('get: tables, wide, several types, all', () => {
    const [head, row] = cells(gyro.ok('get', 'deploy', 'read'))
    assert.deepEqual(head, ['NAME', 'READY', 'UP-TO-DATE', 'AVAILABLE', 'AGE'])
    assert.deepEqual(row!.slice(0, 4), ['read', '2/2', '2', '2'])
    const wide = cells(gyro.ok('get', 'pods', '-l', 'app=read', '-o', 'wide', '--no-headers'))
    assert.equal(wide.length, 2)
    assert.ok(wide.every((cell) => /^node-\d$/.test(cell[6]!)))
    const all = gyro.ok('get', 'all')
    for (const part of [
      'pod/read-',
      'service/kubernetes',
      'deployment.apps/read',
      'replicaset.apps/read-',
    ])
      assert.ok(all.includes(part), part)
    assert.match(gyro.ok('get', 'pods', '-A', '--chunk-size=1'), /^NAMESPACE +NAME/)
    const scale = cells(gyro.ok('get', 'deploy', 'read', '--subresource=scale'))
    assert.deepEqual([scale[0]![1], scale[1]![1]], ['DESIRED', '2'])
  })

  test('get: every output format, sorting, selectors', () => {
    const names = gyro.ok('get', 'pods', '-l', 'app=read', '-o', 'name').trim().split('\n').sort()
    assert.equal(names.length, 2)
    const sorted = cells(
      gyro.ok('get', 'pods', '-l', 'app=read', '--sort-by=.metadata.name', '--no-headers'),
    )
    assert.deepEqual(
      sorted.map(([name]) => `pod/${name}`),
      names,
    )
    assert.equal(gyro.ok('get', 'deploy', 'read', '-o', 'jsonpath={.spec.replicas}'), '2')
    assert.equal(gyro.ok('get', 'deploy', 'read', '-o', 'go-template={{.metadata.name}}'), 'read')
    assert.match(
      gyro.ok('get', 'deploy', 'read', '-o', 'yaml'),
      /^apiVersion: apps\/v1\nkind: Deployment\n/,
    )
    const columns = cells(
      gyro.ok('get', 'deploy', 'read', '-o', 'custom-columns=N:.metadata.name,R:.spec.replicas'),
    )
    assert.deepEqual(columns, [
      ['N', 'R'],
      ['read', '2'],
    ])
    assert.equal(
      gyro.json('get', 'pods', '-l', 'app=read', '--field-selector', 'status.phase=Running').items
        .length,
      2,
    )
    assert.equal(gyro.json('get', 'pods', '-l', 'app=nobody').items.length, 0)
  })

  test('get: what is not there', () => {
    const table: readonly [readonly string[], RegExp][] = [
      [['nosuch'], /^error: the server doesn't have a resource type "nosuch"/],
      [['cm', 'x'], /^Error from server \(NotFound\): configmaps "x" not found/],
      [
        ['cm', 'x', '-n', 'missing'],
        /^Error from server \(NotFound\): namespaces "missing" not found/,
      ],
    ]
    for (const [words, expected] of table) {
      const { code, stderr } = gyro.kubectl('get', ...words)
      assert.equal(code, 1)
      assert.match(stderr, expected)
    }
    assert.equal(gyro.ok('get', 'cm', 'x', '--ignore-not-found'), '')
  })

  test('get -w: the rows there are, new ones as they come, the deleted one last', async () => {
    const watching = start(['get', 'cm', '-l', 'watched', '-w', '--output-watch-events'])
    gyro.ok('create', '-f', file('w.json', configMap('w', { a: 'b' }, { watched: '' })))
    await watching.said(/^EVENT +NAME +DATA +AGE\nADDED +w +1 +\d+s\n$/)
    gyro.ok('patch', 'cm', 'w', '-p', '{"data":{"c":"d"}}')
    await watching.said(/\nMODIFIED +w +2 +\d+s\n$/)
    gyro.ok('delete', 'cm', 'w')
    await watching.said(/\nDELETED +w +2 +\d+s\n$/)
    watching.child.kill()
  })

  test('get -w: one object, names, objects, and only what is new', async () => {
    gyro.ok('create', 'cm', 'x1')
    const one = start(['get', 'cm', 'x1', '-w', '-o', 'jsonpath={.data.k}{","}'])
    const names = start(['get', 'cm', '-w', '-o', 'name'])
    const fresh = start(['get', 'cm', '--watch-only', '--no-headers'])
    // Nothing tells when a watch has begun that prints nothing at first: it is told by what it prints.
    await Promise.all([one.said(/^,$/), names.said(/configmap\/x1\n/)])
    let step = 0
    const change = (): void => {
      gyro.ok('patch', 'cm', 'x1', '-p', `{"data":{"k":"v${step++}"}}`)
    }
    const seen = fresh.said(/^x1 +1 +\d+s\n/)
    change()
    await one.said(/^,v0,$/)
    await names.said(/configmap\/x1\nconfigmap\/x1\n$/)
    change()
    await one.said(/^,v0,v1,$/)
    await seen
    for (const { child } of [one, names, fresh]) child.kill()
  })

  test('get: labels, kinds, templates from files, several names', () => {
    const path = file('columns.txt', 'NAME REPLICAS\n.metadata.name .spec.replicas\n')
    const template = file('go.txt', '{{range .items}}{{.metadata.name}};{{end}}')
    expectAll([
      [
        'get deploy --show-labels',
        /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE +LABELS\nread +2\/2 +2 +2 +\S+ +app=read\n$/,
      ],
      ['get deploy -L app', /^NAME .* APP\nread .* read\n$/],
      ['get deploy --show-kind --no-headers', /^deployment\.apps\/read +2\/2/],
      [
        'get deploy/read cm/kube-root-ca.crt -o name',
        'deployment.apps/read\nconfigmap/kube-root-ca.crt\n',
      ],
      [
        'get deploy,rs -l app=read --no-headers',
        /^deployment\.apps\/read .*\n+replicaset\.apps\/read-\w+ /,
      ],
      [`get deploy -o custom-columns-file=${path}`, /^NAME +REPLICAS\nread +2\n$/],
      [`get deploy -o go-template-file=${template}`, 'read;'],
      [
        'get deploy -o jsonpath={range.items[*]}{.metadata.name}{"\\t"}{.spec.replicas}{"\\n"}{end}',
        'read\t2\n',
      ],
      [
        'get deploy read -o jsonpath-as-json={.spec.template.spec.containers[*].image}',
        '[\n    "nginx:1.27"\n]\n',
      ],
      ['get deploy read -o json --show-managed-fields', /"manager": "kubectl-create"/],
      ['get deploy read --subresource=status --no-headers', /^read +2\/2/],
      [
        'get ns default -o custom-columns=A:.metadata.name,B:.nosuch --no-headers',
        /^default +<none>\n$/,
      ],
      ['get pods -A --field-selector=spec.nodeName=nosuch', ''],
      ['__complete get deploy re', /^read\n:4\n/],
    ])
    refuseAll([
      [
        'get deploy read other',
        /^Error from server \(NotFound\): deployments\.apps "other" not found\n$/,
      ],
      ['get deploy -o jsonpath={.a', /^error: error parsing jsonpath \{\.a, unclosed action\n$/],
      ['get pods --field-selector=spec.nosuch=a', /field label not supported: spec\.nosuch/],
      [
        'get pods -l a=(b',
        /^Error from server \(BadRequest\): .*unable to parse requirement: found '\(', expected: identifier\n$/,
      ],
    ])
  })

  test('cluster-info dump: every list of a namespace, and the logs', () => {
    const path = join(folder, 'dump')
    expectAll([
      [
        `cluster-info dump --namespaces=default --output-directory=${path}`,
        `Cluster info dumped to ${path}\n`,
      ],
    ])
    const [pod] = gyro.json('get', 'pods', '-l', 'app=read').items
    assert.deepEqual(readdirSync(path).toSorted(), ['default', 'nodes.json'])
    assert.match(
      readFileSync(join(path, 'default', pod.metadata.name, 'logs.txt'), 'utf8'),
      /simulated container c/,
    )
    const { kind, items } = JSON.parse(
      readFileSync(join(path, 'default', 'deployments.json'), 'utf8'),
    )
    assert.deepEqual([kind, items[0].metadata.name], ['DeploymentList', 'read'])
  })

  test('events, and those to come', async () => {
    const text = gyro.ok('events', '--for', 'deploy/read')
    assert.match(text, /Normal +ScalingReplicaSet +Deployment\/read +Scaled up replica set/)
    assert.match(gyro.ok('get', 'events', '--field-selector', 'reason=NodeReady'), /node\/node-1/)
    const [pod] = gyro.ok('get', 'pods', '-l', 'app=read', '-o', 'name').split('\n')
    expectAll([
      // Lines stand by time, of which the kubelet tells whole seconds and the scheduler more: within one second it comes behind.
      [
        `events --for=${pod} --no-headers`,
        /^(?=[^]*Normal +Scheduled )[^]*Normal +Pulled [^]*Normal +Started /,
      ],
      [`events --for=${pod} --types=Warning`, ''],
      [
        'events -A --for=node/node-1',
        /^NAMESPACE +LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\ndefault .* Starting +Node\/node-1 /,
      ],
      ['events --for=deploy/read -o jsonpath={.items[*].reason}', 'ScalingReplicaSet'],
      ['get events --sort-by=.metadata.name -o name', /^event\//],
    ])
    const watching = start(['events', '--watch', '--types=Warning', '--no-headers'])
    gyro.ok('run', 'unpullable', '--image=nginx:broken')
    await watching.said(/Warning +Failed +Pod\/unpullable +Failed to pull image "nginx:broken"/)
    watching.child.kill()
    gyro.ok('delete', 'pod', 'unpullable', '--now')
    refuseAll([['events --types=Odd', /^error: valid --types are Normal or Warning\n$/]])
  })

  test('top: what simulated pods use', () => {
    const nodes = cells(gyro.ok('top', 'nodes', '--no-headers'))
    assert.deepEqual(
      nodes.map(([name]) => name),
      ['node-1', 'node-2', 'node-3'],
    )
    assert.ok(nodes.every(([, cpu, , memory]) => /^\d+m$/.test(cpu!) && /^\d+Mi$/.test(memory!)))
    const pods = cells(gyro.ok('top', 'pods', '-l', 'app=read', '--containers', '--no-headers'))
    assert.deepEqual(
      pods.map((cell) => cell[1]),
      ['c', 'c'],
    )
    const [name] = gyro
      .ok('get', 'pods', '-l', 'app=read', '-o', 'jsonpath={.items[*].metadata.name}')
      .split(' ')
    expectAll([
      [
        'top node node-1',
        /^NAME +CPU\(cores\) +CPU\(?%\)? +MEMORY\(bytes\) +MEMORY\(?%\)? *\nnode-1 +\d+m +\d+% +\d+Mi +\d+% *\n$/,
      ],
      [
        `top pod ${name}`,
        new RegExp(`^NAME +CPU\\(cores\\) +MEMORY\\(bytes\\) *\\n${name} +\\d+m +\\d+Mi *\\n$`),
      ],
      [
        `top pod --field-selector=metadata.name=${name} --no-headers`,
        new RegExp(`^${name} [^\\n]*\\n$`),
      ],
      ['top pod -A --sum --sort-by=cpu --no-headers', /\n +_+ +_+ *\n +\d+m +\d+Mi *\n$/],
      ['top node --show-capacity --sort-by=memory --no-headers', /^node-\d/],
    ])
    refuseAll([
      ['top pod nosuch', 'Error from server (NotFound): pods.metrics.k8s.io "nosuch" not found\n'],
      [
        'top node nosuch',
        'Error from server (NotFound): nodes.metrics.k8s.io "nosuch" not found\n',
      ],
    ])
  })
})
