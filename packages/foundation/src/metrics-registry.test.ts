import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrometheusRegistry, goFloat } from './metrics-registry.ts'

const FLOATS: [number, string][] = [
  [0, '0'],
  [-0, '-0'],
  [1, '1'],
  [-1.5, '-1.5'],
  [0.1 + 0.2, '0.30000000000000004'],
  [9.999999999999999e-6, '9.999999999999999e-06'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [1e-10, '1e-10'],
  [5e-324, '5e-324'],
  [123456, '123456'],
  [999999.5, '999999.5'],
  [1_000_000, '1e+06'],
  [16_777_216, '1.6777216e+07'],
  [1e21, '1e+21'],
  [1e100, '1e+100'],
  [Infinity, '+Inf'],
  [-Infinity, '-Inf'],
  [NaN, 'NaN'],
]
for (const [value, text] of FLOATS)
  test(`${value} is written as ${text}`, () => assert.equal(goFloat(value), text))

test('families are sorted by name and series by label values, labels by name', () => {
  const registry = new PrometheusRegistry()
  const requests = registry.counter({
    name: 'requests_total',
    help: 'Requests.',
    labels: ['verb', 'code'],
  })
  const depth = registry.gauge({
    name: 'depth',
    help: 'Depth.',
    labels: ['name'],
    stability: 'STABLE',
  })
  requests.increment({ verb: 'GET', code: '200' })
  requests.increment({ verb: 'GET', code: '200' }, 2)
  requests.increment({ verb: 'POST', code: '100' })
  depth.set(3, { name: 'b' })
  depth.add(-1, { name: 'b' })
  depth.set(1, { name: 'a' })
  assert.equal(
    registry.expose(),
    `# HELP depth [STABLE] Depth.
# TYPE depth gauge
depth{name="a"} 1
depth{name="b"} 2
# HELP requests_total [ALPHA] Requests.
# TYPE requests_total counter
requests_total{code="100",verb="POST"} 1
requests_total{code="200",verb="GET"} 3
`,
  )
})

test('a histogram counts up to and including its bounds, cumulatively', () => {
  const registry = new PrometheusRegistry()
  const seconds = registry.histogram({
    name: 's',
    help: 'h',
    buckets: [9.999999999999999e-6, 0.5, 1],
  })
  for (const value of [0.000001, 0.5, 0.7, 1, 2]) seconds.observe(value)
  assert.equal(
    registry.expose(),
    `# HELP s [ALPHA] h
# TYPE s histogram
s_bucket{le="9.999999999999999e-06"} 1
s_bucket{le="0.5"} 2
s_bucket{le="1"} 4
s_bucket{le="+Inf"} 5
s_sum 4.200001
s_count 5
`,
  )
})

test('a labelled histogram puts le last', () => {
  const registry = new PrometheusRegistry()
  registry
    .histogram({ name: 's', help: 'h', labels: ['verb'], buckets: [1] })
    .observe(NaN, { verb: 'GET' })
  assert.match(
    registry.expose(),
    /s_bucket\{verb="GET",le="1"\} 0\ns_bucket\{verb="GET",le="\+Inf"\} 1\ns_sum\{verb="GET"\} NaN\n/,
  )
})

test('a family without labels shows its zero at once, one with labels nothing before its first series', () => {
  const registry = new PrometheusRegistry()
  registry.counter({ name: 'plain_total', help: 'h' })
  registry.counter({ name: 'labelled_total', help: 'h', labels: ['a'] })
  assert.equal(
    registry.expose(),
    '# HELP plain_total [ALPHA] h\n# TYPE plain_total counter\nplain_total 0\n',
  )
})

test('label values and help texts are escaped', () => {
  const registry = new PrometheusRegistry()
  registry.counter({ name: 'c', help: 'a\\b\nc "d"', labels: ['l'] }).increment({ l: 'q" \\ \n' })
  assert.equal(
    registry.expose(),
    '# HELP c [ALPHA] a\\\\b\\nc "d"\n# TYPE c counter\nc{l="q\\" \\\\ \\n"} 1\n',
  )
})

test('asking twice gives the same family; asking otherwise throws', () => {
  const registry = new PrometheusRegistry()
  registry.counter({ name: 'c', help: 'h' }).increment()
  registry.counter({ name: 'c', help: 'h' }).increment()
  assert.match(registry.expose(), /^c 2$/m)
  assert.throws(() => registry.gauge({ name: 'c', help: 'h' }), /registered before/)
  assert.throws(() => registry.counter({ name: 'c', help: 'other' }), /registered before/)
  assert.throws(
    () => registry.counter({ name: 'c', help: 'h', labels: ['a'] }),
    /registered before/,
  )
})

test('wrong labels, falling counters and invalid names are refused', () => {
  const registry = new PrometheusRegistry()
  const counter = registry.counter({ name: 'c', help: 'h', labels: ['a'] })
  assert.throws(() => counter.increment(), /has the labels \[a\]/)
  assert.throws(() => counter.increment({ a: '1', b: '2' }), /has the labels \[a\]/)
  assert.throws(() => counter.increment({ a: '1' }, -1), /cannot decrease/)
  assert.throws(() => registry.counter({ name: '1x', help: '' }), /not valid/)
  assert.throws(() => registry.counter({ name: 'x', help: '', labels: ['a-b'] }), /not valid/)
  assert.throws(() => registry.histogram({ name: 'h', help: '', buckets: [1, 1] }), /do not rise/)
})

test('collectors run before each exposition', () => {
  const registry = new PrometheusRegistry()
  const gauge = registry.gauge({ name: 'g', help: 'h' })
  let calls = 0
  registry.onCollect(() => gauge.set(++calls))
  assert.match(registry.expose(), /^g 1$/m)
  assert.match(registry.expose(), /^g 2$/m)
})

test('an initialized histogram shows its series at 0, and one that was observed keeps what it has', () => {
  const registry = new PrometheusRegistry()
  const histogram = registry.histogram({ name: 's', help: 'h', labels: ['l'], buckets: [1] })
  histogram.initialize({ l: 'a' })
  histogram.observe(1, { l: 'b' })
  histogram.initialize({ l: 'b' })
  const text = registry.expose()
  assert.match(text, /s_bucket\{l="a",le="1"\} 0\n/)
  assert.match(text, /s_count\{l="a"\} 0\n/)
  assert.match(text, /s_count\{l="b"\} 1\n/)
})

test('a cleared gauge shows what is set afterwards and nothing else', () => {
  const registry = new PrometheusRegistry()
  const gauge = registry.gauge({ name: 'held', help: 'h', labels: ['by'] })
  gauge.set(1, { by: 'a' })
  gauge.clear()
  assert.equal(registry.expose(), '')
  gauge.set(2, { by: 'b' })
  assert.match(registry.expose(), /\nheld\{by="b"\} 2\n$/)
  const plain = new PrometheusRegistry()
  const single = plain.gauge({ name: 'one', help: 'h' })
  single.set(5)
  single.clear()
  assert.match(plain.expose(), /\none 0\n$/)
})
