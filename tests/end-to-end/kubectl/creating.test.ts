/** `kubectl create`: from files, and by each of its subcommands. Contract: docs/behaviour/api-server/kubectl.md. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { finished } from '../gyro-process.ts'
import { begin, configMap, file, finish, folder, gyro, refuseAll } from './session.ts'

before(begin)
after(finish)

test('create: from files, and by each of its subcommands', () => {
  const again = file('once.json', configMap('once', {}))
  assert.equal(gyro.ok('create', '-f', again), 'configmap/once created\n')
  assert.match(gyro.kubectl('create', '-f', again).stderr, /\(AlreadyExists\)/)
  const table: readonly [string, string][] = [
    ['ns made', 'namespace/made'],
    ['configmap made --from-literal=a=b', 'configmap/made'],
    ['secret generic made --from-literal=a=b', 'secret/made'],
    ['sa made', 'serviceaccount/made'],
    ['deployment made --image=nginx', 'deployment.apps/made'],
    ['job made --image=busybox', 'job.batch/made'],
    ['cronjob made --image=busybox --schedule=@daily', 'cronjob.batch/made'],
    ['job made-now --from=cronjob/made', 'job.batch/made-now'],
    ['role made --verb=get --resource=pods', 'role.rbac.authorization.k8s.io/made'],
    [
      'rolebinding made --role=made --serviceaccount=default:made',
      'rolebinding.rbac.authorization.k8s.io/made',
    ],
    ['clusterrole made --verb=get --resource=pods', 'clusterrole.rbac.authorization.k8s.io/made'],
    [
      'clusterrolebinding made --clusterrole=made --user=jane',
      'clusterrolebinding.rbac.authorization.k8s.io/made',
    ],
    ['quota made --hard=count/secrets=100 -n made', 'resourcequota/made'],
    ['pdb made --selector=app=nobody --min-available=1', 'poddisruptionbudget.policy/made'],
    ['ingress made --rule=a.example/x=web:80', 'ingress.networking.k8s.io/made'],
    ['priorityclass made --value=5', 'priorityclass.scheduling.k8s.io/made'],
    ['service clusterip made --tcp=80', 'service/made'],
  ]
  for (const [words, name] of table) {
    assert.equal(gyro.ok('create', ...words.split(' ')), `${name} created\n`)
  }
  const { data, metadata } = gyro.json('get', 'cm', 'made', '--show-managed-fields')
  assert.deepEqual([data, metadata.managedFields[0].manager], [{ a: 'b' }, 'kubectl-create'])
  const owner = gyro.json('get', 'job', 'made-now').metadata.ownerReferences[0]
  assert.deepEqual([owner.kind, owner.name], ['CronJob', 'made'])
})

test('create: an unknown field is refused and nothing is stored; dry runs store nothing', () => {
  const bad = { ...configMap('bad', {}), dta: {} }
  assert.match(
    gyro.kubectl('create', '-f', file('bad.json', bad)).stderr,
    /strict decoding error: unknown field "dta"/,
  )
  const dry = file('dry.json', configMap('dry', {}))
  assert.equal(
    gyro.ok('create', '-f', dry, '--dry-run=server'),
    'configmap/dry created (server dry run)\n',
  )
  assert.equal(
    gyro.ok('create', '-f', dry, '--dry-run=client'),
    'configmap/dry created (dry run)\n',
  )
  assert.equal(gyro.ok('get', 'cm', 'bad', 'dry', '--ignore-not-found'), '')
})

test('create: what its subcommands make of their flags', () => {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x -days 1'
  const made = finished('openssl', [...request.split(' '), '-keyout', key, '-out', certificate])
  assert.equal(made.code, 0, made.stderr)
  const env = file('settings.env', 'A=1\n# no\nB=two\n')
  const table: readonly [string, string][] = [
    [`secret tls g --cert=${certificate} --key=${key} -o jsonpath={.type}`, 'kubernetes.io/tls'],
    [
      'secret docker-registry g2 --docker-server=r.example --docker-username=u --docker-password=p -o jsonpath={.type}',
      'kubernetes.io/dockerconfigjson',
    ],
    [`configmap g --from-env-file=${env} -o jsonpath={.data.A},{.data.B}`, '1,two'],
    [
      'service nodeport g --tcp=80:8080 --node-port=30080 -o jsonpath={.spec.type},{.spec.ports[0].nodePort},{.spec.ports[0].targetPort}',
      'NodePort,30080,8080',
    ],
    [
      'service loadbalancer g2 --tcp=80 -o jsonpath={.spec.type},{.spec.allocateLoadBalancerNodePorts}',
      'LoadBalancer,true',
    ],
    [
      'service externalname g3 --external-name=x.example -o jsonpath={.spec.externalName}',
      'x.example',
    ],
    ['service clusterip g4 --clusterip=None -o jsonpath={.spec.clusterIP}', 'None'],
    [
      'quota g --hard=pods=2 --scopes=BestEffort -n generated -o jsonpath={.spec}',
      '{"hard":{"pods":"2"},"scopes":["BestEffort"]}',
    ],
    ['pdb g --selector=app=x --max-unavailable=50% -o jsonpath={.spec.maxUnavailable}', '50%'],
    [
      'priorityclass g --value=5 --preemption-policy=Never --description=five -o jsonpath={.value},{.preemptionPolicy},{.description}',
      '5,Never,five',
    ],
    [
      'ingress g --class=c --rule=a.example/x*=web:http,tls=cert -o jsonpath={.spec.rules[0].http.paths[0].pathType},{.spec.tls[0].secretName}',
      'Prefix,cert',
    ],
    [
      'role g --verb=get,list --resource=deployments.apps,pods/log -o jsonpath={.rules[*].resources}',
      '["pods/log"] ["deployments"]',
    ],
    [
      'clusterrole g --verb=get --non-resource-url=/logs/* -o jsonpath={.rules[0].nonResourceURLs}',
      '["/logs/*"]',
    ],
    [
      'clusterrole g2 --aggregation-rule=a=b -o jsonpath={.aggregationRule.clusterRoleSelectors[0].matchLabels}',
      '{"a":"b"}',
    ],
    [
      'cronjob g --image=i --schedule=@daily --restart=OnFailure -o jsonpath={.spec.jobTemplate.spec.template.spec.restartPolicy}',
      'OnFailure',
    ],
    [
      'job g --image=i -o jsonpath={.spec.template.spec.containers[0].command} -- sleep 1',
      '["sleep","1"]',
    ],
    [
      'deployment g --image=i --image=j --replicas=0 -o jsonpath={.spec.template.spec.containers[*].name}',
      'i j',
    ],
  ]
  gyro.ok('create', 'ns', 'generated')
  for (const [words, expected] of table) {
    const said = gyro.ok('create', ...words.split(' '))
    if (words.startsWith('role '))
      assert.deepEqual(said.split(' ').toSorted(), expected.split(' ').toSorted())
    else assert.equal(said, expected, words)
  }
  refuseAll([
    [
      'create service nodeport g9 --tcp=80 --node-port=30080',
      /^error: failed to create NodePort service: Service "g9" is invalid: spec\.ports\[0\]\.nodePort: Invalid value: 30080: provided port is already allocated\n$/,
    ],
    [
      'create deployment g --image=i',
      'error: failed to create deployment: deployments.apps "g" already exists\n',
    ],
    [
      'create ns Upper',
      /^The Namespace "Upper" is invalid: metadata\.name: Invalid value: "Upper": a lowercase RFC 1123 label must consist of/,
    ],
    [
      'create configmap g --from-literal=a',
      /^error: invalid literal source a, expected key=value\n$/,
    ],
    ['create -f /nosuch.yaml', /^error: the path "\/nosuch\.yaml" does not exist\n$/],
  ])
})
