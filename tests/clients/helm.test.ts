/** docs/guides/test-helm-charts.md, word for word, with the newest Helm; the older one is nightly/helm-3.test.ts. */
import { test } from 'node:test'
import { testChartOfTheGuide } from './chart-of-the-guide.ts'

test('Helm 4: the chart of test-helm-charts.md is installed, tested, upgraded and rolled back', () =>
  testChartOfTheGuide('helm-4'))
