{{- define "plimsoll.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 46 | trimSuffix "-" }}
{{- end }}

{{/* 46 characters and the two suffixes of a Deployment's pods make 63: a pod's host name, by which the holder of
the Lease is known, is then the whole name of the pod. */}}
{{- define "plimsoll.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 46 | trimSuffix "-" }}
{{- else if contains (include "plimsoll.name" .) .Release.Name }}
{{- .Release.Name | trunc 46 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "plimsoll.name" .) | trunc 46 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "plimsoll.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride }}
{{- end }}

{{/* Cluster-scoped names carry the namespace: releases of one name in two namespaces do not collide. The
colon cannot be part of either, so that no two pairs make the same name. */}}
{{- define "plimsoll.clusterName" -}}
{{- printf "%s:%s" (include "plimsoll.namespace" .) (include "plimsoll.fullname" .) }}
{{- end }}

{{- define "plimsoll.selectorLabels" -}}
app.kubernetes.io/name: {{ include "plimsoll.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "plimsoll.chartLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "_" | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: plimsoll
{{- end }}

{{/* Labels of every object. What the selectors need wins over what the user adds. */}}
{{- define "plimsoll.labels" -}}
{{- $own := merge (include "plimsoll.selectorLabels" . | fromYaml) (include "plimsoll.chartLabels" . | fromYaml) }}
{{- merge $own .Values.commonLabels | toYaml }}
{{- end }}

{{- define "plimsoll.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "plimsoll.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "plimsoll.image" -}}
{{- $registry := default .Values.image.registry (.Values.global).imageRegistry }}
{{- $name := list $registry .Values.image.repository | compact | join "/" }}
{{- if and .Values.image.digest .Values.image.tag }}
{{- printf "%s:%s@%s" $name .Values.image.tag .Values.image.digest }}
{{- else if .Values.image.digest }}
{{- printf "%s@%s" $name .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" $name (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- define "plimsoll.imagePullSecrets" -}}
{{- with concat .Values.imagePullSecrets (default list (.Values.global).imagePullSecrets) -}}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Spread constraints; one without a selector counts the operator's own pods. */}}
{{- define "plimsoll.topologySpreadConstraints" -}}
{{- $selector := dict "matchLabels" (include "plimsoll.selectorLabels" . | fromYaml) }}
{{- range .Values.topologySpreadConstraints }}
{{- $own := hasKey . "labelSelector" | ternary dict (dict "labelSelector" $selector) }}
- {{ merge $own . | toYaml | nindent 2 | trim }}
{{- end }}
{{- end }}

{{/* Fails where the operator would refuse to start. */}}
{{- define "plimsoll.validate" -}}
{{- with .Values.leaderElection }}
{{- if and (gt (int $.Values.replicaCount) 1) (not .enabled) }}
{{- fail "leaderElection.enabled: several replicas would all bind pods: set replicaCount to 1, or leave leader election on" }}
{{- end }}
{{- $deadline := float64 .renewDeadlineSeconds }}
{{- if not (and (lt (mulf .retryPeriodSeconds 1.2) $deadline) (lt $deadline (float64 .leaseDurationSeconds))) }}
{{- fail "leaderElection: leaseDurationSeconds must be more than renewDeadlineSeconds, and that more than 1.2 times retryPeriodSeconds" }}
{{- end }}
{{- end }}
{{- end }}

{{/* Subjects of a binding to the operator's service account. */}}
{{- define "plimsoll.subjects" -}}
- kind: ServiceAccount
  name: {{ include "plimsoll.serviceAccountName" . }}
  namespace: {{ include "plimsoll.namespace" . }}
{{- end }}

{{/* One ClusterRole with its binding. Takes (dict "root" $ "part" "reader" "rules" "<yaml>"). */}}
{{- define "plimsoll.boundClusterRole" -}}
{{- $name := printf "%s:%s" (include "plimsoll.clusterName" .root) .part -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ $name }}
  labels:
    {{- include "plimsoll.labels" .root | nindent 4 }}
rules:
  {{- .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $name }}
  labels:
    {{- include "plimsoll.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ $name }}
subjects:
  {{- include "plimsoll.subjects" .root | nindent 2 }}
{{- end }}

{{/* Not empty where a ServiceMonitor is asked for and the cluster knows the kind. */}}
{{- define "plimsoll.serviceMonitorServed" -}}
{{- if and .Values.serviceMonitor.enabled (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1") }}yes{{ end }}
{{- end }}
