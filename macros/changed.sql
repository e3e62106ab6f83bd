{#-
    A build computes all campaigns anew, or only those that changed since the last one. In the second case whoever
    starts it (changes.py) has put three tables into the scratch database: `changed_campaigns`, and `changed_trials` and
    `changed_runs`, those that these campaigns had before. Models of single trials and runs are incremental: they forget
    what changed and append what the staging models then show. Models over several campaigns are computed whole.
-#}

{#- The table of what changed, `campaigns`, `runs` or `trials`; none when everything is computed. -#}
{% macro changed(what) -%}
    {%- if execute and target.type == 'duckdb' -%}
        {{ return(adapter.get_relation('scratch', 'main', 'changed_' ~ what)) }}
    {%- endif -%}
    {{ return(none) }}
{%- endmacro %}

{#- The condition on a campaign that it is computed in this build. -#}
{% macro is_changed(campaign) -%}
    {%- if changed('campaigns') -%}
        {{ campaign }} in (select campaign from {{ changed('campaigns') }})
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}

{#- The condition on a trial that it is computed in this build, and not kept from the last one. -#}
{% macro is_computed(trial_id) -%}
    {%- set computed = ref('stg_current_trials') -%} {#- named whatever is computed: dbt wants to know beforehand -#}
    {%- if changed('campaigns') -%}
        {{ trial_id }} in (select trial_id from {{ computed }})
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}

{#- Before an incremental model: remove the rows of campaigns, runs or trials that are computed anew. -#}
{% macro forget_changed(column) -%}
    {%- if is_incremental() -%}
        delete from {{ this }}
        {%- if changed('campaigns') %}
        where {{ column }} in (
            select {{ column }} from {{ changed(column | replace('_id', '') ~ 's') }}
        )
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}

{#- After a relation of which the newest batch counts: the rows from before, of batches that this build does not read. -#}
{% macro and_from_before() -%}
    {%- if is_incremental() -%}
        union all by name
        select * from {{ this }}
    {%- endif -%}
{%- endmacro %}
